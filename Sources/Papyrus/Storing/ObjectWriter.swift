import CBOR
import Foundation
import StorageEngine

/// An object as it goes into the store.
struct WrittenObject: Sendable {
    var key: String
    var owner: String
    var value: [UInt8]
    /// When it was given to be saved; what is there already keeps its own.
    var created: Timestamp
    /// Whether it was given itself, and not in a relation of another.
    var isGiven: Bool
    /// Which of the given objects it was, or belongs to.
    fileprivate var root: Int
}

/// Makes objects and what their relations hold into entries. For one thread; encoders offer it to relations.
///
/// Of several objects with one key one is kept: what was given itself before what others hold, of one given object's the
/// outermost, else the last.
final class ObjectWriter: @unchecked Sendable {
    private(set) var objects: [WrittenObject] = []
    private var places: [String: Int] = [:]
    /// What the relations of the object that is encoded hold.
    private var found: [any Papyrus] = []
    /// Whether a copy is encoded: it has no relations but those it can't be without.
    private(set) var isCopying = false
    private var copied: Set<ObjectIdentifier> = []
    private var encoder = CBOREncoder()

    private static let key = CodingUserInfoKey(rawValue: "vellum.papyrus.writer")

    static func of(_ encoder: any Encoder) -> ObjectWriter? {
        key.flatMap { encoder.userInfo[$0] as? ObjectWriter }
    }

    /// The entries of these objects and of all that they hold, in the order in which they were met.
    /// - Throws: what an object's own coding throws; then nothing of them is to be saved.
    static func entries<Object: Papyrus>(of objects: [Object]) throws -> [WrittenObject] {
        let writer = ObjectWriter()
        if let key { writer.encoder.userInfo[key] = writer }
        // The encoder holds the writer.
        defer { writer.encoder.userInfo = [:] }
        for (root, object) in objects.enumerated() { try writer.write(object, root: root) }
        return writer.objects
    }

    /// Without recursion, since relations may be as deep as they like.
    private func write<Object: Papyrus>(_ object: Object, root: Int) throws {
        try encode(object, root: root, isGiven: true)
        var next = 0
        var waiting = found
        found = []
        while next < waiting.count {
            let related = waiting[next]
            next += 1
            try encode(related, root: root, isGiven: false)
            waiting += found
            found = []
        }
    }

    private func encode<Object: Papyrus>(_ object: Object, root: Int, isGiven: Bool) throws {
        let type = StoredType.of(Object.self)
        let key = type.key(of: object.id)
        let place = places[key]
        if let place {
            let present = objects[place]
            // That ends circles too.
            if present.root == root || present.isGiven && !isGiven { return }
        }
        var written = WrittenObject(
            key: key, owner: type.name, value: [], created: CreationClock.next(), isGiven: isGiven, root: root
        )
        if let place {
            written.created = objects[place].created
            objects[place] = written
        } else {
            places[key] = objects.count
            objects.append(written)
        }
        let value = try encoder.encode(object)
        if let place = places[key] { objects[place].value = value }
    }

    /// Notes what a relation holds.
    func add(_ object: any Papyrus) { if !isCopying { found.append(object) } }

    /// Calls `body`, which encodes a copy of an object, unless a copy of it is just being encoded.
    func copying<Object: Papyrus>(_ object: Object, _ body: () throws -> Void) rethrows {
        var identity: ObjectIdentifier?
        if Object.self is AnyObject.Type {
            let new = ObjectIdentifier(object as AnyObject)
            guard copied.insert(new).inserted else { return }
            identity = new
        }
        let before = isCopying
        isCopying = true
        defer {
            isCopying = before
            if let identity { copied.remove(identity) }
        }
        try body()
    }
}

/// When objects were given to be saved, in microseconds: each later than all before it in this process, so that they have an
/// order also where many are saved at once.
enum CreationClock {
    private static let last = Guarded<Int64>(0)

    static func next() -> Timestamp {
        let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
        return last.withLock { last in
            last = max(last + 1, now)
            return Timestamp(microseconds: last)
        }
    }
}
