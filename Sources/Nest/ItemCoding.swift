import CBOR
import Foundation

/// Why an item can't be stored on disk or read from there, in one line.
struct ItemProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Type and times of an item, stored with it.
package struct StoredTerms: Codable {
    /// The type's name for display, and the mangled name by which a program finds the type.
    var type: String
    var code: String?
    /// How long the item stays in memory, in seconds; `nil` for no limit.
    var memory: Double?
    /// Whether the item leaves memory when its entry on disk expires.
    var mirror: Bool
}

/// Encodes items with their type's name: `Codable` ones and collections (``ItemFormer``) as CBOR, others keyed.
package enum ItemCoding {
    private struct Coded<Item: Codable>: Codable {
        var terms: StoredTerms
        var item: Item
    }

    private struct Archived: Codable {
        var terms: StoredTerms
        var archive: Data?
    }

    private struct Head: Decodable { var terms: StoredTerms }

    package struct Encoded {
        package var bytes: [UInt8]
        /// The classes of the objects in its keyed archive.
        package var classes: [AnyClass] = []
    }

    /// Runs code of the item and of its parts. Throws `ItemProblem`, or errors of the item's coding.
    package static func encode(_ item: Any, memory: Double, mirror: Bool) throws -> Encoded {
        // NaN and negative times count as 0.
        let seconds = memory > 0 ? memory : 0
        var terms = StoredTerms(
            type: String(reflecting: type(of: item)), memory: seconds.isFinite ? seconds : nil, mirror: mirror
        )
        if let item = item as? any Codable {
            var names = TypeNames()
            terms.code = try names.code(of: type(of: item))
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
        let encoded = Encoded(bytes: whole.encoded, classes: former.classes)
        do {
            try testReading(encoded, as: form)
        } catch {
            throw ItemProblem("\(terms.type) can't be read back: \(error)")
        }
        return encoded
    }

    /// Tests whether the item of this form is read back unchanged, while it can still be kept in memory instead.
    private static func testReading(_ encoded: Encoded, as form: CBORValue) throws {
        var again = ItemFormer()
        let item = try decode(encoded.bytes, allowing: encoded.classes).item
        guard try again.form(of: item).shape == form.shape else {
            throw ItemProblem("a part of it is read back as another type")
        }
    }

    private static func encode<Item: Codable>(_ item: Item, _ terms: StoredTerms) throws -> [UInt8] {
        try CBOREncoder().encode(Coded(terms: terms, item: item))
    }

    /// - Parameter classes: the classes that a keyed archive may have objects of.
    package static func decode(_ bytes: [UInt8], allowing classes: [AnyClass]) throws -> (
        item: Any, terms: StoredTerms
    ) {
        let terms = try CBORDecoder().decode(Head.self, from: bytes).terms
        if let code = terms.code {
            var names = TypeNames()
            return (try decodeWhole(try names.type(named: code, shownAs: terms.type), bytes), terms)
        }
        if let archive = try CBORDecoder().decode(Archived.self, from: bytes).archive {
            return (try KeyedArchive(Array(archive)).object(allowing: classes), terms)
        }
        guard let form = try CBORValue(cbor: bytes).asMap?[key: "item"] else { throw ItemProblem.unreadable }
        var reader = ItemReader(classes: classes)
        return (try reader.item(of: form), terms)
    }

    private static func decodeWhole<Item: Codable>(_ type: Item.Type, _ bytes: [UInt8]) throws -> Any {
        try CBORDecoder().decode(Coded<Item>.self, from: bytes).item
    }

    static func decode<Part: Codable>(_ type: Part.Type, _ bytes: [UInt8]) throws -> Any {
        try CBORDecoder().decode(type, from: bytes)
    }

    /// Foundation's plain classes, whose decoding has no side effects.
    package static let plainClasses: [AnyClass] = [
        NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSData.self, NSDate.self, NSURL.self,
        NSUUID.self, NSSet.self, NSNull.self,
    ]
}
