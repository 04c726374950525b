import CBOR
import Foundation
import StorageEngine

/// Makes objects of entries, and what their relations hold. For one thread; decoders offer it to relations.
///
/// An object that is met within itself, in a circle of relations, has its own left empty there: arrays, and optional ones. So
/// every circle ends, and each object of it is made in full where it is met first.
final class ObjectLoader: @unchecked Sendable {
    /// One takes some 4 KB of stack in optimised builds, and several times that in others. Where Darwin's queues run, a thread has
    /// 512 KB.
    #if canImport(Darwin)
    private static let maximumDepth = 16
    #else
    private static let maximumDepth = 64
    #endif

    private let source: any EntrySource
    private var decoder = CBORDecoder()
    /// What relations hold, made once for all that hold it.
    private var made: [String: any Papyrus] = [:]
    /// Those within which a circle was cut: they are as others would have them only within the same parent.
    private var cut: [String: any Papyrus] = [:]
    /// What is being made, each within the one before, and how often.
    private var path: [String: Int] = [:]
    private var depth = 0
    private var isCut = false
    /// Whether the object that is being made is met within itself.
    private(set) var isBare = false
    /// What relations asked for.
    private(set) var related: [SeenEntry] = []
    /// What the keys of all related objects begin with.
    private var relatedPrefixes: Set<String> = []

    private static let key = CodingUserInfoKey(rawValue: "vellum.papyrus.loader")

    static func of(_ decoder: any Decoder) -> ObjectLoader? {
        key.flatMap { decoder.userInfo[$0] as? ObjectLoader }
    }

    init(_ source: any EntrySource) { self.source = source }

    /// Calls `body`, which may ask this for objects.
    func use<Value>(_ body: () throws -> Value) rethrows -> Value {
        if let key = ObjectLoader.key { decoder.userInfo[key] = self }
        // The decoder holds this.
        defer { decoder.userInfo = [:] }
        return try body()
    }

    /// What was asked for depends on these keys, and on those of all types that relations lead to.
    func interest(besides own: KeyInterest) -> KeyInterest {
        relatedPrefixes.reduce(into: own) { $0.insert(prefix: $1) }
    }

    /// The object of an entry.
    /// - Throws: `invalidSchema`, or what the engine refuses.
    func object<Object: Papyrus>(_ type: Object.Type, of entry: StoredEntry) throws -> Object {
        cut = [:]
        do {
            return try make(type, entry)
        } catch {
            throw ObjectLoader.queryError(error)
        }
    }

    /// A damaged value also counts as undecodable. A temporary failure to read doesn't.
    private static func queryError(_ error: any Error) -> any Error {
        let error = orDamaged(error)
        guard !(error is PapyrusStore.QueryError), !(error is StorageError) else { return error }
        return PapyrusStore.QueryError.invalidSchema(details: error)
    }

    /// `invalidSchema` where an entry's bytes are damaged, else the error itself.
    static func orDamaged(_ error: any Error) -> any Error {
        guard case .corrupted? = error as? StorageError else { return error }
        return PapyrusStore.QueryError.invalidSchema(details: error)
    }

    /// What a relation holds under an identifier; `nil`: it was deleted.
    func load<Object: Papyrus>(_ type: Object.Type, _ id: String) throws -> Object? {
        let stored = StoredType.of(type)
        let key = stored.key(of: id)
        if let object = made[key] as? Object { return object }
        if let object = cut[key] as? Object {
            isCut = true
            return object
        }
        let entry = try source.find(key)
        related.append(SeenEntry(key: key, sequence: entry?.sequence))
        relatedPrefixes.insert(stored.prefix)
        return try entry.map { try make(type, $0) }
    }

    private func make<Object: Papyrus>(_ type: Object.Type, _ entry: StoredEntry) throws -> Object {
        let above = path[entry.key] ?? 0
        guard above < 2 else {
            throw StoredProblem(
                description:
                    "the relations of \(entry.key) lead back to it, and none of them may be empty; make one optional"
            )
        }
        guard depth < ObjectLoader.maximumDepth else {
            throw StoredProblem(
                description: "relations are more than \(ObjectLoader.maximumDepth) deep at \(entry.key)")
        }
        let (wasBare, wasCut) = (isBare, isCut)
        path[entry.key] = above + 1
        depth += 1
        isBare = wasBare || above > 0
        isCut = isBare
        defer {
            path[entry.key] = above == 0 ? nil : above
            depth -= 1
            isBare = wasBare
            isCut = wasCut || isCut
        }
        let object: Object
        do {
            object = try decoder.decode(type, from: entry.value)
        } catch let error as DecodingError where depth > 1 {
            // The error's path begins here.
            throw StoredProblem(description: "\(entry.key), which it holds: \(error)")
        }
        guard depth > 1, !isBare else { return object }
        if isCut { cut[entry.key] = object } else { made[entry.key] = object }
        return object
    }
}
