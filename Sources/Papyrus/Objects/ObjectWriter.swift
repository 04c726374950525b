import CBOR
import Foundation
import StorageEngine

struct WrittenObject: Sendable {
    var key: String
    var owner: String
    var value: [UInt8]
    /// Creation time of a new entry, from the call that saves the object. An existing entry keeps its time.
    var created: Timestamp
    /// Whether the object was passed to the call, and not found in a relation.
    var isGiven: Bool
    /// The index, among the call's objects, of this object or of the one whose relation contains it.
    fileprivate var root: Int
}

/// Encodes objects with related ones, which find the writer in `userInfo`. If several objects have one key, prefers one that
/// was passed to the call, then the outermost, then the last. Not thread-safe.
final class ObjectWriter: @unchecked Sendable {
    private(set) var objects: [WrittenObject] = []
    private var places: [String: Int] = [:]
    private var found: [any Papyrus] = []
    /// Whether a copy is being encoded, which contains only relations that aren't optional.
    private(set) var isCopying = false
    private var copied: Set<ObjectIdentifier> = []
    private var encoder = CBOREncoder()

    private static let key = CodingUserInfoKey(rawValue: "vellum.papyrus.writer")

    static func of(_ encoder: any Encoder) -> ObjectWriter? {
        key.flatMap { encoder.userInfo[$0] as? ObjectWriter }
    }

    /// Entries of these and all related objects, as found. Throws errors of an object's coding; then none may be saved.
    static func entries<Object: Papyrus>(of objects: [Object]) throws -> [WrittenObject] {
        let writer = ObjectWriter()
        if let key { writer.encoder.userInfo[key] = writer }
        // Breaks the reference cycle with the encoder.
        defer { writer.encoder.userInfo = [:] }
        for (root, object) in objects.enumerated() { try writer.write(object, root: root) }
        return writer.objects
    }

    /// Not recursive, because relations may be arbitrarily deep.
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
            // This also ends cycles.
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

    func add(_ object: any Papyrus) { if !isCopying { found.append(object) } }

    /// Calls `body`, which encodes a copy of the object, unless such a copy is being encoded already.
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

/// Creation times in microseconds, each later than all before in this process.
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
