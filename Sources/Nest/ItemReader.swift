import CBOR
import Foundation

/// Creates an item from its form, which may come from a malicious file.
struct ItemReader {
    let classes: [AnyClass]
    private var names = TypeNames()

    init(classes: [AnyClass]) { self.classes = classes }

    /// The item, with `NSNull` for absent values. Throws `ItemProblem`, or errors of a part's coding.
    mutating func item(of value: CBORValue) throws -> Any {
        switch value {
        case .boolean(let flag): return flag
        case .unsigned, .negative:
            guard let number = value.asInt64.flatMap({ Int(exactly: $0) }) else {
                throw ItemProblem.unreadable
            }
            return number
        case .float(let number): return number
        case .text(let text): return text
        case .bytes(let bytes): return Data(bytes)
        case .tagged(1, .float(let seconds)): return Date(timeIntervalSince1970: seconds)
        case .null: return NSNull()
        case .array(let values): return try items(of: values)
        case .map(let map):
            let pairs = try pairs(of: map)
            let named = pairs.compactMap { pair in
                (pair.key.base as? String).flatMap { key in
                    type(of: pair.key.base) == String.self ? (key, pair.value) : nil
                }
            }
            guard named.count == pairs.count else { return pairs }
            return Dictionary(named) { first, _ in first }
        case .tagged(let number, let content):
            guard let tag = ItemTag(rawValue: number) else { throw ItemProblem.unreadable }
            return try item(of: content, tag)
        default: throw ItemProblem.unreadable
        }
    }

    private mutating func items(of values: [CBORValue]) throws -> [Any] {
        try values.map { try item(of: $0) }
    }

    private mutating func item(of content: CBORValue, _ tag: ItemTag) throws -> Any {
        switch (tag, content) {
        case (.number, .boolean(let flag)): return NSNumber(value: flag)
        case (.number, .float(let number)): return NSNumber(value: number)
        case (.single, .float(let number)): return NSNumber(value: Float(number))
        case (.number, .unsigned(let number)):
            return Int64(exactly: number).map { NSNumber(value: $0) } ?? NSNumber(value: number)
        case (.number, .negative):
            guard let number = content.asInt64 else { throw ItemProblem.unreadable }
            return NSNumber(value: number)
        case (.string, .text(let text)): return NSString(string: text)
        case (.mutableString, .text(let text)): return NSMutableString(string: text)
        case (.array, .array(let values)): return NSArray(array: try items(of: values))
        case (.mutableArray, .array(let values)): return NSMutableArray(array: try items(of: values))
        case (.dictionary, .map(let map)):
            let pairs = NSDictionary(dictionary: try pairs(of: map))
            return try ItemReader.all(pairs, pairs.count, of: map.count)
        case (.mutableDictionary, .map(let map)):
            let pairs = NSMutableDictionary(dictionary: try pairs(of: map))
            return try ItemReader.all(pairs, pairs.count, of: map.count)
        case (.set, .array(let values)):
            let set = NSSet(set: try members(values))
            return try ItemReader.all(set, set.count, of: values.count)
        case (.mutableSet, .array(let values)):
            let set = NSMutableSet(set: try members(values))
            return try ItemReader.all(set, set.count, of: values.count)
        case (.hashables, .array(let values)): return try members(values)
        case (.coded, .array(let parts)):
            guard parts.count == 2, let name = parts[0].asString else { throw ItemProblem.unreadable }
            return try ItemCoding.decode(names.type(named: name), parts[1].encoded)
        case (.archived, .bytes(let bytes)): return try KeyedArchive(bytes).object(allowing: classes)
        default: throw ItemProblem.unreadable
        }
    }

    private mutating func pairs(of map: CBORMap) throws -> [AnyHashable: Any] {
        var pairs: [AnyHashable: Any] = [:]
        for entry in map.entries { pairs[try hashable(entry.key)] = try item(of: entry.value) }
        return try ItemReader.all(pairs, pairs.count, of: map.count)
    }

    private mutating func members(_ values: [CBORValue]) throws -> Set<AnyHashable> {
        let members = Set(try values.map { try hashable($0) })
        return try ItemReader.all(members, members.count, of: values.count)
    }

    /// A collection with all stored parts. Throws if parts are equal in Swift, such as canonically equal texts.
    private static func all<Parts>(_ parts: Parts, _ count: Int, of stored: Int) throws(ItemProblem) -> Parts
    {
        guard count == stored else { throw ItemProblem("has keys or members that are equal in Swift") }
        return parts
    }

    private mutating func hashable(_ value: CBORValue) throws -> AnyHashable {
        guard value.canBeHashed else { throw ItemProblem.collectionToFind }
        let part = try item(of: value)
        if type(of: part) is AnyClass, let object = part as? NSObject {
            guard !FoundationParts.isCollection(object) else { throw ItemProblem.collectionToFind }
            return AnyHashable(object)
        }
        guard let part = part as? any Hashable else { throw ItemProblem.unreadable }
        return AnyHashable(part)
    }
}
