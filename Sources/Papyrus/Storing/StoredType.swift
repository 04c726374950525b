import Foundation
import StorageEngine

/// A type as a store knows it, and the keys of its objects: the type's name, `/` and the identifier. Sendable value type.
struct StoredType: Sendable, Hashable {
    /// The owner of the type's entries.
    let name: String
    /// What the keys of all its objects begin with.
    let prefix: String

    /// The key of the entry that merges of the type's objects change. No object has it, for it has no `/`.
    var mark: String { name }

    private static let known = Guarded<[ObjectIdentifier: StoredType]>([:])

    static func of<Object: Papyrus>(_ type: Object.Type) -> StoredType {
        if let known = known.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        let new = StoredType(name: type.papyrusTypeName)
        known.withLock { $0[ObjectIdentifier(type)] = new }
        return new
    }

    init(name: String) {
        // Neither a key nor an owner is empty.
        let name = name.isEmpty ? ":" : name.replacingOccurrences(of: "/", with: ":")
        self.name = StoredType.shortened(name, to: 255)
        prefix = self.name + "/"
    }

    /// The key of the object with this identifier. One that is too long for a key keeps its beginning, and a digest of the whole
    /// stands for the rest; such a key has 1,024 bytes and no other has as many.
    func key<ID: CustomStringConvertible>(of id: ID) -> String {
        let text = StoredType.canonical(id.description)
        let room = 1_023 - prefix.utf8.count
        guard text.utf8.count > room else { return prefix + text }
        return prefix + StoredType.cut(text, to: room + 1)
    }

    /// The one spelling of all that Swift takes for equal.
    private static func canonical(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 } ? text : text.precomposedStringWithCanonicalMapping
    }

    private static func shortened(_ text: String, to bytes: Int) -> String {
        text.utf8.count <= bytes ? text : cut(text, to: bytes)
    }

    /// Exactly so many bytes: the beginning, and `~` with the digest of the whole.
    private static func cut(_ text: String, to bytes: Int) -> String {
        let digest = "~" + SHA256.hexadecimal(of: Array(text.utf8))
        var beginning = ""
        for scalar in text.unicodeScalars {
            guard beginning.utf8.count + scalar.utf8.count + digest.utf8.count <= bytes else { break }
            beginning.unicodeScalars.append(scalar)
        }
        let rest = bytes - beginning.utf8.count - digest.utf8.count
        return beginning + String(repeating: "~", count: max(0, rest)) + digest
    }

    /// Swift writes the place of a private or local type as `(unknown context at $5f3e)`, which is another one in each process.
    /// Its mangled name has the same place in all of them.
    static func name(of type: Any.Type) -> String {
        var name = ""
        var rest = String(reflecting: type)[...]
        while let start = rest.range(of: "(unknown context at ")?.lowerBound,
            let end = rest[start...].range(of: ").")?.upperBound
        {
            name += rest[..<start]
            rest = rest[end...]
        }
        guard !name.isEmpty || rest.startIndex != rest.base.startIndex else { return String(rest) }
        name += rest
        guard let mangled = _mangledTypeName(type) else { return name }
        return name + "~" + SHA256.hexadecimal(of: Array(mangled.utf8)).prefix(8)
    }
}
