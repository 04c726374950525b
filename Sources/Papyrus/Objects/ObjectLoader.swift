import CBOR
import Foundation
import StorageEngine

/// Decodes objects with related ones. Relations find the loader in the decoder's `userInfo`. Cycles end in empty relations. Not
/// thread-safe.
final class ObjectLoader: @unchecked Sendable {
    /// Maximum depth of relations. Each level takes at least some 4 KB of stack. On Darwin the queues' threads have 512 KB.
    #if canImport(Darwin)
    private static let maximumDepth = 16
    #else
    private static let maximumDepth = 64
    #endif

    private let source: any EntrySource
    private var decoder = CBORDecoder()
    /// Related objects that were decoded completely, each shared by all objects that refer to it.
    private var made: [String: any Papyrus] = [:]
    /// Related objects inside which a cycle was cut. They can only be reused within the same parent.
    private var cut: [String: any Papyrus] = [:]
    /// The keys of the objects being decoded, with the number of their occurrences.
    private var path: [String: Int] = [:]
    private var depth = 0
    private var isCut = false
    /// Whether the current object occurs inside itself, so that its relations stay empty.
    private(set) var isInsideItself = false
    /// The entries that relations requested.
    private(set) var seen: [SeenEntry] = []
    private var relatedPrefixes: Set<String> = []

    private static let key = CodingUserInfoKey(rawValue: "vellum.papyrus.loader")

    static func of(_ decoder: any Decoder) -> ObjectLoader? {
        key.flatMap { decoder.userInfo[$0] as? ObjectLoader }
    }

    init(_ source: any EntrySource) { self.source = source }

    func use<Value>(_ body: () throws -> Value) rethrows -> Value {
        if let key = ObjectLoader.key { decoder.userInfo[key] = self }
        // Breaks the reference cycle with the decoder.
        defer { decoder.userInfo = [:] }
        return try body()
    }

    /// The keys that the result depends on: `own`, and all keys of related types.
    func interest(besides own: KeyInterest) -> KeyInterest {
        relatedPrefixes.reduce(into: own) { $0.insert(prefix: $1) }
    }

    /// The object of an entry. Throws `invalidSchema`, or an error of the engine.
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
        guard !(error is PapyrusQueryError), !(error is StorageError) else { return error }
        return PapyrusQueryError.invalidSchema(details: error)
    }

    /// `invalidSchema` if the error says that an entry's bytes are damaged, otherwise the error itself.
    static func orDamaged(_ error: any Error) -> any Error {
        guard case .corrupted? = error as? StorageError else { return error }
        return PapyrusQueryError.invalidSchema(details: error)
    }

    /// The related object with an identifier; `nil` if it was deleted.
    func load<Object: Papyrus>(_ type: Object.Type, _ id: String) throws -> Object? {
        let stored = StoredType.of(type)
        let key = stored.key(of: id)
        if let object = made[key] as? Object { return object }
        if let object = cut[key] as? Object {
            isCut = true
            return object
        }
        let entry = try source.find(key)
        seen.append(SeenEntry(key: key, sequence: entry?.sequence))
        relatedPrefixes.insert(stored.prefix)
        return try entry.map { try make(type, $0) }
    }

    private func make<Object: Papyrus>(_ type: Object.Type, _ entry: StoredEntry) throws -> Object {
        let above = path[entry.key] ?? 0
        guard above < 2 else {
            throw StoredProblem(
                description:
                    "the relations of \(entry.key) form a cycle of required relations; make one optional"
            )
        }
        guard depth < ObjectLoader.maximumDepth else {
            throw StoredProblem(
                description: "relations are more than \(ObjectLoader.maximumDepth) deep at \(entry.key)")
        }
        let (wasInsideItself, wasCut) = (isInsideItself, isCut)
        path[entry.key] = above + 1
        depth += 1
        isInsideItself = wasInsideItself || above > 0
        isCut = isInsideItself
        defer {
            path[entry.key] = above == 0 ? nil : above
            depth -= 1
            isInsideItself = wasInsideItself
            isCut = wasCut || isCut
        }
        let object: Object
        do {
            object = try decoder.decode(type, from: entry.value)
        } catch let error as DecodingError where depth > 1 {
            // The path in the error begins at this object.
            throw StoredProblem(description: "the related object \(entry.key): \(error)")
        }
        guard depth > 1, !isInsideItself else { return object }
        if isCut { cut[entry.key] = object } else { made[entry.key] = object }
        return object
    }
}
