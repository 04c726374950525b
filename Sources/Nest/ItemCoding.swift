import CBOR
import Foundation

/// Why an item can't be stored on disk or read from there, in one line. Sendable value type.
struct ItemProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Stored together with the item.
struct StoredTerms: Codable {
    /// The type's name, for people, and as the mangled name from which a program finds the type.
    var type: String
    var code: String?
    /// How long the item stays in memory, in seconds; `nil` for no limit.
    var memory: Double?
    /// Whether the item leaves memory when its entry on disk expires.
    var mirror: Bool
}

/// Encodes and decodes items, with the name of their type. `Codable` items and collections (``ItemFormer``) are stored as CBOR,
/// other `NSSecureCoding` objects as a keyed archive inside CBOR.
enum ItemCoding {
    private struct Coded<Item: Codable>: Codable {
        var terms: StoredTerms
        var item: Item
    }

    private struct Archived: Codable {
        var terms: StoredTerms
        var archive: Data?
    }

    private struct Head: Decodable { var terms: StoredTerms }

    /// An encoded item.
    struct Encoded {
        var bytes: [UInt8]
        /// The classes of the objects in its keyed archive.
        var classes: [AnyClass] = []
    }

    /// Runs code of the item and of its parts.
    /// - Throws: `ItemProblem`, or what the item's own coding throws.
    static func encode(_ item: Any, memory: Double, mirror: Bool) throws -> Encoded {
        // What isn't more than zero means at once.
        let seconds = memory > 0 ? memory : 0
        var terms = StoredTerms(
            type: String(reflecting: type(of: item)), memory: seconds.isFinite ? seconds : nil, mirror: mirror
        )
        if let item = item as? any Codable {
            terms.code = try code(of: type(of: item))
            return Encoded(bytes: try encode(item, terms))
        }
        var former = ItemFormer()
        let form: CBORValue
        do {
            form = try former.form(of: item)
        } catch let problem as ItemProblem {
            throw ItemProblem("\(terms.type) \(problem)")
        }
        if case .tagged(ItemTag.archived.rawValue, .bytes(let archive)) = form {
            let stored = Archived(terms: terms, archive: Data(archive))
            return Encoded(bytes: try CBOREncoder().encode(stored), classes: former.classes)
        }
        let whole: CBORValue = [
            "terms": try CBORValue(cbor: CBOREncoder().encode(terms)), "item": form,
        ]
        return Encoded(bytes: whole.encoded, classes: former.classes)
    }

    private static func encode<Item: Codable>(_ item: Item, _ terms: StoredTerms) throws -> [UInt8] {
        try CBOREncoder().encode(Coded(terms: terms, item: item))
    }

    /// The name from which the type is found again. Tests now whether it is found, while the item can still be kept
    /// in memory instead.
    static func code(of type: any Codable.Type) throws -> String {
        guard let code = _mangledTypeName(type), let found = try foundType(code), found == type else {
            throw ItemProblem("\(type) can't be found again by its name; declare it outside of functions")
        }
        return code
    }

    /// The type with this name, which may come from a hostile file. The limit is needed because the time that
    /// Swift's runtime takes doubles with each level of nested generic types, optionals included.
    private static func foundType(_ code: String) throws -> Any.Type? {
        let generics = code.utf8.count { $0 == UInt8(ascii: "G") } + code.ranges(of: "Sg").count
        guard generics <= 16 else {
            throw ItemProblem(
                "the type's name has \(generics) generic types, and at most 16 can be nested")
        }
        return _typeByName(code)
    }

    /// - Parameter classes: the classes that a keyed archive may have objects of.
    static func decode(_ bytes: [UInt8], allowing classes: [AnyClass]) throws -> (
        item: Any, terms: StoredTerms
    ) {
        let terms = try CBORDecoder().decode(Head.self, from: bytes).terms
        if let code = terms.code {
            return (try decodeWhole(try codable(named: code, shownAs: terms.type), bytes), terms)
        }
        if let archive = try CBORDecoder().decode(Archived.self, from: bytes).archive {
            return (try KeyedArchive(Array(archive)).object(allowing: classes), terms)
        }
        guard let form = try CBORValue(cbor: bytes).asMap?[key: "item"] else { throw ItemProblem.damaged }
        return (try ItemReader(classes: classes).item(of: form), terms)
    }

    private static func decodeWhole<Item: Codable>(_ type: Item.Type, _ bytes: [UInt8]) throws -> Any {
        try CBORDecoder().decode(Coded<Item>.self, from: bytes).item
    }

    static func decode<Part: Codable>(_ type: Part.Type, _ bytes: [UInt8]) throws -> Any {
        try CBORDecoder().decode(type, from: bytes)
    }

    /// The type of a mangled name, which may come from a hostile file. `shownAs`: how people call it.
    static func codable(named code: String, shownAs name: String? = nil) throws -> any Codable.Type {
        guard let type = try foundType(code) as? any Codable.Type else {
            throw ItemProblem("this program has no Codable type \(name ?? code)")
        }
        return type
    }

    /// Foundation's plain classes, whose decoding has no side effects.
    static let plainClasses: [AnyClass] = [
        NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSData.self, NSDate.self, NSURL.self,
        NSUUID.self, NSSet.self, NSNull.self,
    ]
}
