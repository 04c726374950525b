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

/// Encodes and decodes items, with the name of their type. `Codable` items are stored as CBOR, `NSSecureCoding`
/// objects as a keyed archive inside CBOR.
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
        var terms = StoredTerms(
            type: String(reflecting: type(of: item)), memory: memory.isFinite ? memory : nil, mirror: mirror)
        if let item = item as? any Codable {
            terms.code = try code(of: type(of: item))
            return Encoded(bytes: try encode(item, terms))
        }
        if let plain = PlainItem.value(of: item) {
            let terms = try CBORValue(cbor: CBOREncoder().encode(terms))
            let whole: CBORValue = ["terms": terms, "item": plain]
            return Encoded(bytes: whole.encoded)
        }
        // Before it is made an object of Foundation's, which may end the process, too.
        if let obstacle = FoundationObstacle.find(in: item) {
            throw ItemProblem("\(terms.type) \(obstacle)")
        }
        guard let item = item as? NSObject, item is NSSecureCoding else {
            throw ItemProblem("\(terms.type) is neither Codable nor NSSecureCoding")
        }
        let data = try NSKeyedArchiver.archivedData(withRootObject: item, requiringSecureCoding: true)
        let classes = try testReading(Array(data), of: item)
        return Encoded(
            bytes: try CBOREncoder().encode(Archived(terms: terms, archive: data)), classes: classes)
    }

    /// Tests now whether the archive can be read back and is the item then, while that can still be kept in memory instead.
    /// - Returns: the classes that reading needs.
    private static func testReading(_ bytes: [UInt8], of item: NSObject) throws -> [AnyClass] {
        let archive = try KeyedArchive(bytes)
        let classes = try archive.classNames.map { (name) throws(ItemProblem) -> AnyClass in
            guard let found = NSClassFromString(name.text) else {
                throw ItemProblem(
                    "class \(name.text) can't be found again by its name; declare it outside of functions, and not private"
                )
            }
            return found
        }
        do {
            let isAltered = try ArchivedForm.isAltered(item) { try archive.object(allowing: classes) }
            guard !isAltered else {
                throw ItemProblem(
                    "Foundation's archive of it doesn't give back what it is: a number, say, has another kind"
                )
            }
        } catch let problem as ItemProblem {
            throw problem
        } catch {
            throw ItemProblem("its keyed archive can't be read back: \(error)")
        }
        return classes
    }

    private static func encode<Item: Codable>(_ item: Item, _ terms: StoredTerms) throws -> [UInt8] {
        try CBOREncoder().encode(Coded(terms: terms, item: item))
    }

    /// The name from which the type is found again. Tests now whether it is found, while the item can still be kept
    /// in memory instead.
    private static func code(of type: any Codable.Type) throws -> String {
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
            guard let type = try foundType(code) as? any Codable.Type else {
                throw ItemProblem("this program has no Codable type \(terms.type)")
            }
            return (try decode(type, bytes), terms)
        }
        if let archive = try CBORDecoder().decode(Archived.self, from: bytes).archive {
            return (try KeyedArchive(Array(archive)).object(allowing: classes), terms)
        }
        guard let plain = try CBORValue(cbor: bytes).asMap?[key: "item"], let item = PlainItem.item(of: plain)
        else { throw ItemProblem.damaged }
        return (item, terms)
    }

    private static func decode<Item: Codable>(_ type: Item.Type, _ bytes: [UInt8]) throws -> Any {
        try CBORDecoder().decode(Coded<Item>.self, from: bytes).item
    }

    /// Foundation's plain classes, whose decoding has no side effects.
    static let plainClasses: [AnyClass] = [
        NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSData.self, NSDate.self, NSURL.self,
        NSUUID.self, NSSet.self, NSNull.self,
    ]
}
