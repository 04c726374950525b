import TestSupport
import CBOR
import Foundation

/// A condition as text and as a closure.
struct ClosureCondition<Row> {
    let text: String
    let isMet: (Row) -> Bool
}

/// A property as the language names it and as Swift gets it from an object, with what can be asked of it.
struct ClosureProperty<Row> {
    typealias MakeCondition = (inout SeededGenerator) -> ClosureCondition<Row>

    let name: String
    /// Negative if the left one comes first; what has no order comes last in either direction.
    var order: (_ left: Row, _ right: Row, _ isDescending: Bool) -> Int = { _, _, _ in 0 }
    /// What tells values apart; nil if there is none.
    var identity: (Row) -> AnyHashable?
    /// Whether values have an order, so that rows are grouped by them in one.
    var isOrdered = true
    /// Whether a row's value has a place in the order.
    var isRanked: (Row) -> Bool
    /// The value as a column shows it.
    let cell: (Row) throws -> CBORValue?
    var number: (Row) -> Double? = { _ in nil }
    /// Whether sums of it are the same in any order.
    var isSummed = true
    var conditions: [MakeCondition] = []

    init<Value: Hashable & Encodable & SendableMetatype>(_ name: String, _ value: @escaping (Row) -> Value?) {
        self.name = name
        identity = { value($0).map(AnyHashable.init) }
        isRanked = { value($0) != nil }
        cell = { row in
            guard let value = value(row) else { return nil }
            return try Cells.value(value)
        }
        // What is never met by a value of another kind, and what asks for nothing but a value.
        conditions = [
            { _ in ClosureCondition(text: "\(name) is null") { value($0) == nil } },
            { _ in ClosureCondition(text: "\(name) is not null") { value($0) != nil } },
            { _ in ClosureCondition(text: "\(name) = null") { value($0) == nil } },
            { _ in ClosureCondition(text: "\(name) != null") { value($0) != nil } },
        ]
    }

    /// The property of a list or the like, whose values differ where their encodings do: `["\u{e9}"]` isn't
    /// `["e\u{301}"]`, although the texts are the same.
    init<Value: Hashable & Encodable & SendableMetatype>(
        encoded name: String, _ value: @escaping (Row) -> Value?
    ) {
        self.init(name, value)
        isOrdered = false
        identity = { row in
            guard let value = value(row) else { return nil }
            return (try? CBOREncoder().encode(value)).map(AnyHashable.init)
        }
    }

    /// A condition on it.
    func condition(_ random: inout SeededGenerator) -> ClosureCondition<Row> {
        conditions.randomElement(using: &random)!(&random)
    }

    /// Groups stand in ascending order of their values; behind them what has no order, and last what isn't there.
    func precedesAsGroup(_ left: Row, _ right: Row) -> Bool {
        let order = order(left, right, false)
        return order != 0 ? order < 0 : identity(left) != nil && identity(right) == nil
    }

    /// Whether it is one of these properties or a part of one.
    func lies(in selection: [ClosureProperty<Row>]) -> Bool {
        selection.contains {
            name == $0.name || name.hasPrefix($0.name + ".") || name.hasPrefix($0.name + "[")
        }
    }
}

/// Stateless. What columns show, so that equal values are equal however they are written.
enum Cells {
    static func value(_ value: some Encodable) throws -> CBORValue? {
        try decoded(CBOREncoder().encode(value))
    }

    static func decoded(_ item: [UInt8]?) throws -> CBORValue? {
        let value = try item.map { plain(try CBORReader.decode($0)) }
        return value == .null ? nil : value
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
