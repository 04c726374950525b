import Foundation
import StorageEngine

/// A type's name in a store, and the keys of its objects: the name, `/` and the identifier.
struct StoredType: Sendable, Hashable {
    /// The type's name, and the owner of its entries.
    let name: String
    let prefix: String

    /// The key of an entry that every merge of this type changes. It has no `/`, so it is no object's key.
    var mark: String { name }

    private static let known = Guarded<[ObjectIdentifier: StoredType]>([:])

    static func of<Object: Papyrus>(_ type: Object.Type) -> StoredType {
        if let known = known.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        let new = StoredType(name: type.papyrusTypeName)
        known.withLock { $0[ObjectIdentifier(type)] = new }
        return new
    }

    init(name: String) {
        // Keys and owners can't be empty.
        let name = name.isEmpty ? ":" : name.replacingOccurrences(of: "/", with: ":")
        self.name = StoredType.shortened(name, to: 255)
        prefix = self.name + "/"
    }

    /// The key of this identifier. A key that is too long ends in a digest; only such keys have 1,024 bytes.
    func key<ID: CustomStringConvertible>(of id: ID) -> String {
        var text = id.description
        if !text.utf8.allSatisfy({ $0 < 0x80 }) { text = text.precomposedStringWithCanonicalMapping }
        let most = 1_023 - prefix.utf8.count
        guard text.utf8.count > most else { return prefix + text }
        return prefix + StoredType.cut(text, to: most + 1)
    }

    private static func shortened(_ text: String, to bytes: Int) -> String {
        text.utf8.count <= bytes ? text : cut(text, to: bytes)
    }

    /// A text of exactly this many bytes: the beginning, and `~` with a digest of the whole.
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

    /// The default name of a type. In that of a private or local type, a digest replaces the part that differs in each process.
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
