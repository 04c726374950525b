import CBOR
import Foundation

/// An item that isn't `Codable` as one CBOR value, such as JSON. (Foundation's archives alter it: on Linux 1 and 1.0 become `true`
/// after a `true`.) Plain types are CBOR items; others have one of these tags, which queries skip.
enum ItemTag: UInt64 {
    /// An `NSNumber`: a boolean, an integer or a floating-point number.
    case number = 0x4e65_7300
    case string, mutableString
    /// Foundation's collections, with their parts.
    case array, mutableArray, dictionary, mutableDictionary, set, mutableSet
    /// A Swift `Set`.
    case hashables
    /// A `Codable` value: the mangled name of its type, and its encoding.
    case coded
    /// An `NSSecureCoding` object, as a keyed archive.
    case archived
    /// An `NSNumber` of single precision.
    case single

    fileprivate func callAsFunction(_ value: CBORValue) -> CBORValue { .tagged(rawValue, value) }
}

struct ItemFormer {
    /// The maximum number of levels. It suffices for programs and fits into any thread's stack.
    private static let deepest = 200
    /// The maximum number of parts. A part that occurs repeatedly counts each time.
    private static let most = 1 << 20

    private(set) var classes: [AnyClass] = []
    private var names = TypeNames()
    private var parts = 0

    /// - Throws: `ItemProblem`, or errors of a part's coding.
    mutating func form(of part: Any, level: Int = 0) throws -> CBORValue {
        parts += 1
        guard parts <= ItemFormer.most else { throw ItemProblem("has too many parts") }
        guard level <= ItemFormer.deepest else {
            throw ItemProblem("has more than \(ItemFormer.deepest) levels, or contains itself")
        }
        if let optional = part as? any OptionalPart {
            guard let content = optional.content else { return .null }
            return try form(of: content, level: level + 1)
        }
        // Casting unwraps AnyHashable and may bridge its content.
        if type(of: part) == AnyHashable.self, let hashable = part as? AnyHashable {
            return try form(of: hashable.base, level: level)
        }
        // Checks for objects before casts to Swift's types, which also succeed for Foundation's objects.
        if type(of: part) is AnyClass { return try form(ofObject: part, level) }
        if let plain = ItemFormer.plain(part) { return plain }
        if let coded = part as? any Codable { return try form(of: coded) }
        if let list = part as? [Any] { return .array(try list.map { try form(of: $0, level: level + 1) }) }
        if let pairs = part as? [AnyHashable: Any] {
            return try form(of: pairs.map { ($0.key.base, $0.value) }, level + 1)
        }
        if let set = part as? Set<AnyHashable> {
            return ItemTag.hashables(.array(try set.map { try form(ofKey: $0.base, level + 1) }))
        }
        // Foundation archives other values only if they are bridged.
        let reason = "is neither Codable nor NSSecureCoding"
        throw ItemProblem(level == 0 ? reason : "has a part, of type \(type(of: part)), that \(reason)")
    }

    /// Form of a dictionary's key or a set's member.
    private mutating func form(ofKey key: Any, _ level: Int) throws -> CBORValue {
        let form: CBORValue
        if type(of: key) is AnyClass {
            guard !FoundationParts.isCollection(key as AnyObject) else { throw ItemProblem.collectionToFind }
            form = try self.form(of: key, level: level)
        } else if let single = ItemFormer.single(key) {
            form = single
        } else if let coded = key as? any Codable {
            form = try self.form(of: coded)
        } else {
            throw ItemProblem("has a key or member, of type \(type(of: key)), that isn't Codable")
        }
        guard form.canBeHashed else { throw ItemProblem.collectionToFind }
        return form
    }

    /// The CBOR value of a Swift value that has a CBOR type; nil for others.
    private static func plain(_ part: Any) -> CBORValue? {
        // A collection has a CBOR type if its elements have one.
        single(part) ?? (part is any Codable ? plainCollection(part) : nil)
    }

    private static func single(_ part: Any) -> CBORValue? {
        switch part {
        case let flag as Bool: return .boolean(flag)
        case let number as Int: return CBORValue(integer: Int64(number))
        case let number as Double: return .float(number)
        case let text as String: return .text(text)
        case let bytes as Data: return .bytes(Array(bytes))
        case let date as Date:
            let seconds = date.timeIntervalSince1970
            return Date(timeIntervalSince1970: seconds) == date ? .tagged(1, .float(seconds)) : nil
        default: return nil
        }
    }

    /// The CBOR value of a collection whose parts are all `Codable`; nil for others.
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

    private mutating func form(of value: some Codable) throws -> CBORValue {
        let name = try names.code(of: type(of: value))
        return ItemTag.coded([.text(name), try CBORValue(cbor: CBOREncoder().encode(value))])
    }

    /// - Parameter level: of the keys and values.
    private mutating func form(of pairs: [(key: Any, value: Any)], _ level: Int) throws -> CBORValue {
        var entries: [CBORMap.Entry] = []
        for (key, value) in pairs {
            entries.append(
                CBORMap.Entry(key: try form(ofKey: key, level), value: try form(of: value, level: level)))
        }
        return ItemFormer.map(entries)
    }

    /// A map with sorted entries, so that equal items give equal bytes.
    private static func map(_ entries: [CBORMap.Entry]) -> CBORValue {
        let named = entries.allSatisfy { $0.key.asString != nil }
        return .map(
            CBORMap(named ? entries.sorted { ($0.key.asString ?? "") < ($1.key.asString ?? "") } : entries))
    }

    // MARK: Foundation's objects

    /// The form of an object of a Foundation class, not of a subclass.
    private mutating func form(ofObject object: Any, _ level: Int) throws -> CBORValue {
        switch object {
        case is NSNull: return .null
        case let number as NSNumber where !(object is NSDecimalNumber): return ItemFormer.form(of: number)
        case let text as NSString where type(of: text) == NSString.self:
            return ItemTag.string(.text(text as String))
        case let text as NSString where type(of: text) == NSMutableString.self:
            return ItemTag.mutableString(.text(text as String))
        case let list as NSArray where ItemFormer.isOne(list, of: NSArray.self, NSMutableArray.self):
            let parts =
                try FoundationParts.parts(of: list)?.map { try form(ofContained: $0, level + 1) } ?? []
            return (list is NSMutableArray ? ItemTag.mutableArray : .array)(.array(parts))
        case let pairs as NSDictionary
        where ItemFormer.isOne(pairs, of: NSDictionary.self, NSMutableDictionary.self):
            let keys = try FoundationParts.parts(of: pairs)?.map { try form(ofKey: $0, level + 1) } ?? []
            let values = try FoundationParts.values(of: pairs).map { try form(ofContained: $0, level + 1) }
            let parts = ItemFormer.map(zip(keys, values).map { CBORMap.Entry(key: $0, value: $1) })
            return (pairs is NSMutableDictionary ? ItemTag.mutableDictionary : .dictionary)(parts)
        case let set as NSSet where ItemFormer.isOne(set, of: NSSet.self, NSMutableSet.self):
            let parts = try FoundationParts.parts(of: set)?.map { try form(ofKey: $0, level + 1) } ?? []
            return (set is NSMutableSet ? ItemTag.mutableSet : .set)(.array(parts))
        case let coded as any Codable: return try form(of: coded)
        default: return try archived(object, level)
        }
    }

    /// The form of a part of a Foundation collection: Swift arrays and dictionaries need no tag there.
    private mutating func form(ofContained part: Any, _ level: Int) throws -> CBORValue {
        let form = try form(of: part, level: level)
        guard type(of: part) is AnyClass, case .tagged(let tag, let content) = form,
            tag == ItemTag.array.rawValue || tag == ItemTag.dictionary.rawValue
        else { return form }
        return content
    }

    private static func isOne(_ object: NSObject, of classes: AnyClass...) -> Bool {
        classes.contains { type(of: object) == $0 }
    }

    private static func form(of number: NSNumber) -> CBORValue {
        switch String(cString: number.objCType) {
        case "c", "B": ItemTag.number(.boolean(number.boolValue))
        case "f": ItemTag.single(.float(Double(number.floatValue)))
        case "d": ItemTag.number(.float(number.doubleValue))
        case "Q": ItemTag.number(.unsigned(number.uint64Value))
        default: ItemTag.number(CBORValue(integer: number.int64Value))
        }
    }

    private mutating func archived(_ part: Any, _ level: Int) throws -> CBORValue {
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

extension CBORValue {
    /// Whether this may be a key or a member. `false` for a deep collection: comparing it takes unlimited work.
    var canBeHashed: Bool {
        switch self {
        case .boolean, .unsigned, .negative, .float, .text, .bytes, .null, .tagged(1, _): true
        case .tagged(let number, let content):
            switch ItemTag(rawValue: number) {
            case .number, .single, .string, .mutableString, .archived: true
            case .coded: content[0]?.asString.map(TypeNames.canBeHashed) ?? false
            default: false
            }
        default: false
        }
    }

    /// A hash of the types and values. Leaves out encodings of `Codable` values and objects, which may vary for equal items.
    var shape: Int {
        var hasher = Hasher()
        switch self {
        case .array(let parts):
            hasher.combine("array")
            for part in parts { hasher.combine(part.shape) }
        case .map(let map):
            hasher.combine("map")
            hasher.combine(map.entries.reduce(0) { $0 &+ CBORValue.array([$1.key, $1.value]).shape })
        case .tagged(let number, let content):
            hasher.combine(number)
            switch (ItemTag(rawValue: number), content) {
            case (.set, .array(let parts)), (.mutableSet, .array(let parts)), (.hashables, .array(let parts)):
                hasher.combine(parts.reduce(0) { $0 &+ $1.shape })
            case (.coded, _): hasher.combine(content[0])
            case (.archived, _): break
            default: hasher.combine(content.shape)
            }
        default: hasher.combine(self)
        }
        return hasher.finalize()
    }
}

extension ItemProblem {
    static let unreadable = ItemProblem("its entry is damaged")
}

private protocol OptionalPart { var content: Any? { get } }

extension Optional: OptionalPart {
    fileprivate var content: Any? { self }
}
