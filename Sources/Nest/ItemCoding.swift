import CBOR
import Foundation

/// Why an item can't be on disk, or can't come back from there: one line for a person. Sendable value type.
struct ItemProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// What is stored besides the item.
struct StoredTerms: Codable {
    /// The type's name, for people, and in the form from which a program finds the type again.
    var type: String
    var code: String?
    /// How long it stays in memory, in seconds; absent: for good.
    var memory: Double?
    /// Whether it goes from memory with its entry on disk.
    var mirror: Bool
}

/// Makes items into bytes and back: CBOR of anything `Codable`, with its type's name; a keyed archive, inside CBOR, of an
/// `NSSecureCoding`.
enum ItemCoding {
    private struct Coded<Item: Codable>: Codable {
        var terms: StoredTerms
        var item: Item
    }

    private struct Archived: Codable {
        var terms: StoredTerms
        var archive: Data
    }

    private struct Head: Decodable { var terms: StoredTerms }

    /// - Throws: `ItemProblem`, or what the item's own coding throws.
    static func encode(_ item: Any, memory: Double, mirror: Bool) throws -> [UInt8] {
        var terms = StoredTerms(
            type: String(reflecting: type(of: item)), memory: memory.isFinite ? memory : nil, mirror: mirror)
        if let item = item as? any Codable {
            terms.code = try code(of: type(of: item))
            return try encode(item, terms)
        }
        guard let item = item as? NSObject, item is NSSecureCoding else {
            throw ItemProblem("\(terms.type) is neither Codable nor NSSecureCoding")
        }
        let archive = try NSKeyedArchiver.archivedData(withRootObject: item, requiringSecureCoding: true)
        return try CBOREncoder().encode(Archived(terms: terms, archive: archive))
    }

    private static func encode<Item: Codable>(_ item: Item, _ terms: StoredTerms) throws -> [UInt8] {
        try CBOREncoder().encode(Coded(terms: terms, item: item))
    }

    /// The name from which the type is found again. That it is found is tried out now, when the item can still be kept.
    private static func code(of type: any Codable.Type) throws -> String {
        guard let code = _mangledTypeName(type), let found = _typeByName(code), found == type else {
            throw ItemProblem("\(type) can't be found again by its name; declare it outside of functions")
        }
        return code
    }

    /// - Parameter classes: those that a keyed archive may have objects of.
    static func decode(_ bytes: [UInt8], allowing classes: [AnyClass]) throws -> (
        item: Any, terms: StoredTerms
    ) {
        let terms = try CBORDecoder().decode(Head.self, from: bytes).terms
        if let code = terms.code {
            guard let type = _typeByName(code) as? any Codable.Type else {
                throw ItemProblem("this program has no Codable type \(terms.type)")
            }
            return (try decode(type, bytes), terms)
        }
        let archive = try CBORDecoder().decode(Archived.self, from: bytes).archive
        for name in try classNames(in: archive)
        where !classes.contains(where: { NSStringFromClass($0) == name }) {
            throw ItemProblem(
                "objects of class \(name) aren't read unless that is allowed: allow(\(name).self)")
        }
        guard let item = try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: archive) else {
            throw ItemProblem("the archive of \(terms.type) has no object")
        }
        return (item, terms)
    }

    /// The classes whose objects a keyed archive has. They are looked at before it is decoded: on Linux a class that isn't
    /// allowed ends the process.
    private static func classNames(in archive: Data) throws -> Set<String> {
        let list = try PropertyListSerialization.propertyList(from: archive, format: nil) as? [String: Any]
        guard let objects = list?["$objects"] as? [Any] else { throw ItemProblem("it is no keyed archive") }
        return Set(objects.compactMap { ($0 as? [String: Any])?["$classname"] as? String })
    }

    /// The classes of what was encoded from `item`; none if that was no keyed archive.
    static func classes(of item: Any, in bytes: [UInt8]) throws -> [AnyClass] {
        guard !(item is any Codable) else { return [] }
        let archive = try CBORDecoder().decode(Archived.self, from: bytes).archive
        return try classNames(in: archive).compactMap { NSClassFromString($0) }
    }

    private static func decode<Item: Codable>(_ type: Item.Type, _ bytes: [UInt8]) throws -> Any {
        try CBORDecoder().decode(Coded<Item>.self, from: bytes).item
    }

    /// Of Foundation, without behaviour of their own.
    static let plainClasses: [AnyClass] = [
        NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSData.self, NSDate.self, NSURL.self,
        NSUUID.self, NSSet.self, NSNull.self,
    ]
}
