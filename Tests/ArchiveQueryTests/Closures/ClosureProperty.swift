import TestSupport
import CBOR
import Foundation

/// A condition as text and as a closure.
struct ClosureCondition<Row> {
    let text: String
    /// Nil where the condition is unknown.
    let isMet: (Row) -> Bool?
}

/// Conjunction, disjunction and negation with unknown parts, in Kleene's logic.
enum Kleene {
    static func and(_ left: Bool?, _ right: Bool?) -> Bool? {
        left == false || right == false ? false : left == nil || right == nil ? nil : true
    }

    static func or(_ left: Bool?, _ right: Bool?) -> Bool? {
        not(and(not(left), not(right)))
    }

    static func not(_ part: Bool?) -> Bool? { part.map { !$0 } }
}

/// A property's name in the language, its value in Swift, and conditions on it.
struct ClosureProperty<Row> {
    typealias MakeCondition = (inout SeededGenerator) -> ClosureCondition<Row>

    let name: String
    /// Negative if the left one is first; values without an order are last in either direction.
    var order: (_ left: Row, _ right: Row, _ isDescending: Bool) -> Int = { _, _, _ in 0 }
    /// Equal for equal values; nil without a value.
    var identity: (Row) -> AnyHashable?
    /// Whether groups are sorted by the values.
    var isOrdered = true
    /// The kind of a value; minimum and maximum are of the lowest kind present. Nil for a value that is ignored.
    var kindOfExtremes: (Row) -> Int?
    /// The value as a column shows it.
    let cell: (Row) throws -> CBORValue?
    var number: (Row) -> Double? = { _ in nil }
    var conditions: [MakeCondition] = []

    init<Value: Hashable & Encodable & SendableMetatype>(_ name: String, _ value: @escaping (Row) -> Value?) {
        self.name = name
        identity = { value($0).map(AnyHashable.init) }
        kindOfExtremes = { value($0) == nil ? nil : 0 }
        cell = { row in
            guard let value = value(row) else { return nil }
            return try Cells.value(value)
        }
        // Conditions that accept values of every kind.
        conditions = [
            { _ in ClosureCondition(text: "\(name) is null") { value($0) == nil } },
            { _ in ClosureCondition(text: "\(name) is not null") { value($0) != nil } },
            { _ in ClosureCondition(text: "\(name) = null") { value($0) == nil } },
            { _ in ClosureCondition(text: "\(name) != null") { value($0) != nil } },
        ]
    }

    /// A property whose values are compared by their parts, such as a list.
    init<Value: Hashable & Encodable & SendableMetatype>(
        encoded name: String, _ value: @escaping (Row) -> Value?
    ) {
        self.init(name, value)
        isOrdered = false
        func part(_ row: Row) -> CBORValue? { value(row).flatMap { try? Cells.value($0) } }
        identity = { row in part(row).map { AnyHashable(Cells.ordered($0)) } }
        order = { left, right, isDescending in
            switch (part(left), part(right)) {
            case (nil, nil): return 0
            case (nil, _): return 1
            case (_, nil): return -1
            case (let a?, let b?): return isDescending ? Cells.compare(b, a) : Cells.compare(a, b)
            }
        }
    }

    func condition(_ random: inout SeededGenerator) -> ClosureCondition<Row> {
        conditions.randomElement(using: &random)!(&random)
    }

    /// Groups are in ascending order of their values, then groups without an order, then the group without the value.
    func precedesAsGroup(_ left: Row, _ right: Row) -> Bool {
        let order = order(left, right, false)
        return order != 0 ? order < 0 : identity(left) != nil && identity(right) == nil
    }

    /// Whether the selection has the property or a property that contains it.
    func lies(in selection: [ClosureProperty<Row>]) -> Bool {
        selection.contains {
            name == $0.name || name.hasPrefix($0.name + ".") || name.hasPrefix($0.name + "[")
        }
    }
}

/// Values of columns; equal values are equal in any encoding.
enum Cells {
    static func value(_ value: some Encodable) throws -> CBORValue? {
        try decoded(CBOREncoder().encode(value))
    }

    static func decoded(_ item: [UInt8]?) throws -> CBORValue? {
        let value = try item.map { plain(try CBORReader.decode($0)) }
        return value == .null ? nil : value
    }

    /// The value with the entries of all maps in the order of their keys.
    static func ordered(_ value: CBORValue) -> CBORValue {
        switch value {
        case .array(let elements): .array(elements.map(ordered))
        case .map(let map):
            .map(CBORMap(sorted(map).map { CBORMap.Entry(key: $0.key, value: ordered($0.value)) }))
        default: value
        }
    }

    private static func sorted(_ map: CBORMap) -> [CBORMap.Entry] {
        map.entries.sorted { compare($0.key, $1.key) < 0 }
    }

    /// The order of a sort: by kind, then by value; lists and maps by the first part that differs.
    static func compare(_ left: CBORValue, _ right: CBORValue) -> Int {
        switch (left, right) {
        case (.array(let a), .array(let b)):
            return zip(a, b).lazy.map { compare($0, $1) }.first { $0 != 0 } ?? a.count - b.count
        case (.map(let a), .map(let b)):
            return zip(sorted(a), sorted(b)).lazy.flatMap { [($0.key, $1.key), ($0.value, $1.value)] }
                .map { compare($0, $1) }.first { $0 != 0 } ?? a.count - b.count
        case (.bytes(let a), .bytes(let b)):
            return a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
        case (.text(let a), .text(let b)):
            let (a, b) = (Array(a.unicodeScalars), Array(b.unicodeScalars))
            return a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
        default:
            if let a = number(left), let b = number(right) { return a < b ? -1 : a > b ? 1 : 0 }
            return rank(left) - rank(right)
        }
    }

    private static func number(_ value: CBORValue) -> Double? {
        switch value {
        case .unsigned(let number): Double(number)
        case .negative(let number): -1 - Double(number)
        case .float(let number): number
        // A date.
        case .tagged(_, let inner): number(inner)
        default: nil
        }
    }

    private static func rank(_ value: CBORValue) -> Int {
        switch value {
        case .boolean(let flag): flag ? 1 : 0
        case .unsigned, .negative, .float: 2
        case .tagged: 3
        case .text: 4
        case .bytes: 5
        case .array: 6
        case .map: 7
        default: 9
        }
    }

    /// Whole numbers as integers, texts composed.
    private static func plain(_ value: CBORValue) -> CBORValue {
        switch value {
        case .float(let number) where number == number.rounded() && number.magnitude < 1e15:
            number < 0 ? .negative(UInt64(-1 - Int64(number))) : .unsigned(UInt64(number))
        case .text(let text): .text(text.precomposedStringWithCanonicalMapping)
        case .array(let elements): .array(elements.map(plain))
        case .map(let map):
            .map(CBORMap(map.entries.map { CBORMap.Entry(key: plain($0.key), value: plain($0.value)) }))
        default: value
        }
    }
}
