import CBOR
import Foundation

/// An item that isn't `Codable` as one CBOR value: collections with all that they contain, as programs make them of JSON. Foundation's
/// archives would alter them: on Linux equal numbers become one there, so that 1 and 1.0 come back as `true` after a `true`.
///
/// Swift's booleans, integers, floating-point numbers, texts, bytes, dates, arrays and dictionaries are CBOR's own. All else
/// stands behind one of these tags, which queries look through.
enum ItemTag: UInt64 {
    /// An `NSNumber`: a boolean, an integer or a floating-point number.
    case number = 0x4e65_7300
    case string, mutableString
    /// Foundation's collections, with what is in them.
    case array, mutableArray, dictionary, mutableDictionary, set, mutableSet
    /// A `Set` of Swift's.
    case hashables
    /// A `Codable` value: the mangled name of its type, and what it encodes.
    case coded
    /// An `NSSecureCoding` object, as a keyed archive.
    case archived

    fileprivate func callAsFunction(_ value: CBORValue) -> CBORValue { .tagged(rawValue, value) }
}

/// Makes the form of one item.
struct ItemFormer {
    /// Enough for programs, and few enough for any thread's stack.
    private static let deepest = 200
    /// Parts, each counted once for each place where it occurs.
    private static let most = 1 << 20

    /// The classes of the objects in keyed archives.
    private(set) var classes: [AnyClass] = []
    private var parts = 0

    /// - Throws: `ItemProblem`, or what a part's own coding throws.
    mutating func form(of part: Any, level: Int = 0) throws -> CBORValue {
        parts += 1
        guard parts <= ItemFormer.most else { throw ItemProblem("has parts in too many places") }
        guard level <= ItemFormer.deepest else {
            throw ItemProblem("has more than \(ItemFormer.deepest) levels, or contains itself")
        }
        if let optional = part as? any OptionalPart {
            guard let content = optional.content else { return .null }
            return try form(of: content, level: level + 1)
        }
        // Swift's types first: Foundation's objects can be cast to these, too.
        if type(of: part) is AnyClass { return try form(ofObject: part, level) }
        if let plain = ItemFormer.plain(part) { return plain }
        if let coded = part as? any Codable { return try form(of: coded) }
        if let list = part as? [Any] { return .array(try list.map { try form(of: $0, level: level + 1) }) }
        if let pairs = part as? [AnyHashable: Any] {
            return try form(of: pairs.map { ($0.key.base, $0.value) }, level + 1)
        }
        if let set = part as? Set<AnyHashable> {
            return ItemTag.hashables(.array(try set.map { try form(of: $0.base, level: level + 1) }))
        }
        return try archived(part, level)
    }

    /// What CBOR has a kind of its own for, with nothing else in it.
    private static func plain(_ part: Any) -> CBORValue? {
        switch part {
        case let flag as Bool: return .boolean(flag)
        case let number as Int: return CBORValue(integer: Int64(number))
        case let number as Double: return .float(number)
        case let text as String: return .text(text)
        case let bytes as Data: return .bytes(Array(bytes))
        case let date as Date:
            let seconds = date.timeIntervalSince1970
            return Date(timeIntervalSince1970: seconds) == date ? .tagged(1, .float(seconds)) : nil
        // Of others the types of their elements count.
        case is any Codable: return plainCollection(part)
        default: return nil
        }
    }

    /// The same of a collection whose parts all are `Codable`.
    private static func plainCollection(_ part: Any) -> CBORValue? {
        if let list = part as? [Any] {
            var values: [CBORValue] = []
            for part in list {
                guard !(part is any OptionalPart), let value = plain(part) else { return nil }
                values.append(value)
            }
            return .array(values)
        }
        guard let pairs = part as? [String: Any] else { return nil }
        var entries: [CBORMap.Entry] = []
        for (key, part) in pairs.sorted(by: { $0.key < $1.key }) {
            guard !(part is any OptionalPart), let value = plain(part) else { return nil }
            entries.append(CBORMap.Entry(key: .text(key), value: value))
        }
        return .map(CBORMap(entries))
    }

    private func form(of value: some Codable) throws -> CBORValue {
        let name = try ItemCoding.code(of: type(of: value))
        return ItemTag.coded([.text(name), try CBORValue(cbor: CBOREncoder().encode(value))])
    }

    /// - Parameter level: of the keys and values.
    private mutating func form(of pairs: [(key: Any, value: Any)], _ level: Int) throws -> CBORValue {
        var entries: [CBORMap.Entry] = []
        for (key, value) in pairs {
            entries.append(
                CBORMap.Entry(key: try form(of: key, level: level), value: try form(of: value, level: level)))
        }
        // The same item gives the same bytes.
        let named = entries.allSatisfy { $0.key.asString != nil }
        return .map(
            CBORMap(named ? entries.sorted { ($0.key.asString ?? "") < ($1.key.asString ?? "") } : entries))
    }

    // MARK: Foundation's objects

    /// Only of Foundation's own classes, not of those that are derived from them.
    private mutating func form(ofObject object: Any, _ level: Int) throws -> CBORValue {
        switch object {
        case is NSNull: return .null
        case let number as NSNumber where !(object is NSDecimalNumber):
            return ItemTag.number(ItemFormer.value(of: number))
        case let text as NSString where type(of: text) == NSString.self:
            return ItemTag.string(.text(text as String))
        case let text as NSString where type(of: text) == NSMutableString.self:
            return ItemTag.mutableString(.text(text as String))
        case let list as NSArray where ItemFormer.isOne(list, of: NSArray.self, NSMutableArray.self):
            let parts = try (0..<list.count).map { try form(of: list.object(at: $0), level: level + 1) }
            return (list is NSMutableArray ? ItemTag.mutableArray : .array)(.array(parts))
        case let pairs as NSDictionary
        where ItemFormer.isOne(pairs, of: NSDictionary.self, NSMutableDictionary.self):
            var found: [(key: Any, value: Any)] = []
            pairs.enumerateKeysAndObjects { key, value, _ in found.append((key, value)) }
            try ItemFormer.requireDistinct(found.map(\.key))
            let parts = try form(of: found, level + 1)
            return (pairs is NSMutableDictionary ? ItemTag.mutableDictionary : .dictionary)(parts)
        case let set as NSSet where ItemFormer.isOne(set, of: NSSet.self, NSMutableSet.self):
            try ItemFormer.requireDistinct(set.allObjects)
            let parts = try set.allObjects.map { try form(of: $0, level: level + 1) }
            return (set is NSMutableSet ? ItemTag.mutableSet : .set)(.array(parts))
        case let coded as any Codable: return try form(of: coded)
        default: return try archived(object, level)
        }
    }

    private static func isOne(_ object: NSObject, of classes: AnyClass...) -> Bool {
        classes.contains { type(of: object) == $0 }
    }

    /// Of texts with the same characters in other code points some of Foundation's collections keep each, and Swift's one.
    private static func requireDistinct(_ parts: [Any]) throws(ItemProblem) {
        let distinct = Set(parts.compactMap { $0 as? AnyHashable })
        guard distinct.count == parts.count else {
            throw ItemProblem("has keys or members that are equal in Swift")
        }
    }

    private static func value(of number: NSNumber) -> CBORValue {
        switch String(cString: number.objCType) {
        case "c", "B": .boolean(number.boolValue)
        case "f", "d": .float(number.doubleValue)
        case "Q": .unsigned(number.uint64Value)
        default: CBORValue(integer: number.int64Value)
        }
    }

    /// By Foundation, of an object or of what Foundation has a class for.
    private mutating func archived(_ part: Any, _ level: Int) throws -> CBORValue {
        // Before it is made an object of Foundation's, which may end the process, too.
        if let obstacle = FoundationObstacle.find(in: part) {
            throw ItemProblem(
                level == 0 ? obstacle : "has a part, of type \(type(of: part)), that \(obstacle)")
        }
        guard let object = part as? NSObject, object is NSSecureCoding else {
            throw ItemProblem("is neither Codable nor NSSecureCoding")
        }
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        classes += try KeyedArchive.testReading(Array(data), of: object)
        return ItemTag.archived(.bytes(Array(data)))
    }
}

/// Makes an item of its form, which may come from a hostile file.
struct ItemReader {
    /// The classes that keyed archives may have objects of.
    let classes: [AnyClass]

    /// The item. Absent values come back as `NSNull`.
    /// - Throws: `ItemProblem`, or what a part's own coding throws.
    func item(of value: CBORValue) throws -> Any {
        switch value {
        case .boolean(let flag): return flag
        case .unsigned, .negative:
            guard let number = value.asInt64.flatMap({ Int(exactly: $0) }) else { throw ItemProblem.damaged }
            return number
        case .float(let number): return number
        case .text(let text): return text
        case .bytes(let bytes): return Data(bytes)
        case .tagged(1, .float(let seconds)): return Date(timeIntervalSince1970: seconds)
        case .null: return NSNull()
        case .array(let values): return try values.map(item)
        case .map(let map):
            let pairs = try pairs(of: map)
            let named = pairs.compactMap { pair in (pair.key.base as? String).map { ($0, pair.value) } }
            guard named.count == pairs.count else { return pairs }
            return Dictionary(named) { first, _ in first }
        case .tagged(let number, let content):
            guard let tag = ItemTag(rawValue: number) else { throw ItemProblem.damaged }
            return try item(of: content, tag)
        default: throw ItemProblem.damaged
        }
    }

    private func item(of content: CBORValue, _ tag: ItemTag) throws -> Any {
        switch (tag, content) {
        case (.number, .boolean(let flag)): return NSNumber(value: flag)
        case (.number, .float(let number)): return NSNumber(value: number)
        case (.number, .unsigned(let number)):
            return Int64(exactly: number).map { NSNumber(value: $0) } ?? NSNumber(value: number)
        case (.number, .negative):
            guard let number = content.asInt64 else { throw ItemProblem.damaged }
            return NSNumber(value: number)
        case (.string, .text(let text)): return NSString(string: text)
        case (.mutableString, .text(let text)): return NSMutableString(string: text)
        case (.array, .array(let values)): return NSArray(array: try values.map(item))
        case (.mutableArray, .array(let values)): return NSMutableArray(array: try values.map(item))
        case (.dictionary, .map(let map)): return NSDictionary(dictionary: try pairs(of: map))
        case (.mutableDictionary, .map(let map)): return NSMutableDictionary(dictionary: try pairs(of: map))
        case (.set, .array(let values)): return NSSet(set: try members(values))
        case (.mutableSet, .array(let values)): return NSMutableSet(set: try members(values))
        case (.hashables, .array(let values)): return try members(values)
        case (.coded, .array(let parts)):
            guard parts.count == 2, let name = parts[0].asString else { throw ItemProblem.damaged }
            return try ItemCoding.decode(ItemCoding.codable(named: name), parts[1].encoded)
        case (.archived, .bytes(let bytes)): return try KeyedArchive(bytes).object(allowing: classes)
        default: throw ItemProblem.damaged
        }
    }

    private func pairs(of map: CBORMap) throws -> [AnyHashable: Any] {
        var pairs: [AnyHashable: Any] = [:]
        for entry in map.entries {
            guard pairs.updateValue(try item(of: entry.value), forKey: try hashable(entry.key)) == nil else {
                throw ItemProblem.damaged
            }
        }
        return pairs
    }

    private func members(_ values: [CBORValue]) throws -> Set<AnyHashable> {
        let members = Set(try values.map(hashable))
        guard members.count == values.count else { throw ItemProblem.damaged }
        return members
    }

    private func hashable(_ value: CBORValue) throws -> AnyHashable {
        guard let part = try item(of: value) as? AnyHashable else { throw ItemProblem.damaged }
        return part
    }
}

private protocol OptionalPart { var content: Any? { get } }

extension Optional: OptionalPart {
    fileprivate var content: Any? { self }
}
