import CBOR
import StorageEngine

/// Collects the names of all properties that some objects have, as the columns of a table. For one thread.
///
/// A new name comes behind the one that it follows in its object, so that objects which leave out different properties of a
/// common order have their columns in that order.
package struct PropertyColumns {
    /// In the order in which they were seen, and for each the next one of the table: a name may come between two others.
    private var seen: [String] = []
    private var next: [Int] = []
    private var first = -1
    private var last = -1
    private var places: [ExactText: Int] = [:]
    /// Which of them have a text somewhere, and which a number, `true`, `false` or `null`.
    private var withTexts: Set<Int> = []
    private var withOthers: Set<Int> = []
    /// How many all objects have together.
    package private(set) var properties = 0

    package init() {}

    package var count: Int { seen.count }

    package mutating func add(_ object: CBORMap?) {
        // What has no property of the others comes behind them.
        var previous: Int? = hasKnown(object) || seen.isEmpty ? nil : last
        for entry in object ?? CBORMap() {
            properties += 1
            guard case .text(let name) = entry.key else { continue }
            if let known = places[ExactText(name)] {
                previous = known
                note(entry.value, known)
                continue
            }
            note(entry.value, seen.count)
            let place = seen.count
            places[ExactText(name)] = place
            seen.append(name)
            next.append(previous.map { next[$0] } ?? first)
            if next[place] < 0 { last = place }
            if let previous { next[previous] = place } else { first = place }
            previous = place
        }
    }

    private mutating func note(_ value: CBORValue, _ place: Int) {
        switch value {
        case .text: withTexts.insert(place)
        case .array, .map: break
        case .unsigned, .negative, .float, .boolean, .null: withOthers.insert(place)
        // What is printed as a text, a number or null.
        default:
            withTexts.insert(place)
            withOthers.insert(place)
        }
    }

    private func hasKnown(_ object: CBORMap?) -> Bool {
        (object ?? CBORMap()).contains { entry in
            if case .text(let name) = entry.key { places[ExactText(name)] != nil } else { false }
        }
    }

    /// The columns of all names so far.
    package func table() -> PropertyTable {
        let order = Array(sequence(first: first) { next[$0] }.prefix { $0 >= 0 })
        let mixed = order.indices.filter { withTexts.contains(order[$0]) && withOthers.contains(order[$0]) }
        return PropertyTable(names: order.map { seen[$0] }, mixed: Set(mixed))
    }
}

/// Rows of objects under the names of their properties. Immutable; safe to share between threads.
package struct PropertyTable: Sendable {
    package let names: [String]
    /// The columns that have both texts and what is none, arrays and objects aside.
    package let mixed: Set<Int>
    private let columns: [ExactText: Int]

    fileprivate init(names: [String], mixed: Set<Int>) {
        self.names = names
        self.mixed = mixed
        columns = Dictionary(uniqueKeysWithValues: names.enumerated().map { (ExactText($1), $0) })
    }

    /// What an object has under each name; of two properties of one name the first.
    /// - Returns: `isWhole` is false if it has a property twice, or one that isn't in the table.
    package func row(of object: CBORMap?) -> (cells: [CBORValue?], isWhole: Bool) {
        var cells = [CBORValue?](repeating: nil, count: names.count)
        var isWhole = true
        for entry in object ?? CBORMap() {
            guard case .text(let name) = entry.key, let column = columns[ExactText(name)],
                cells[column] == nil
            else {
                isWhole = false
                continue
            }
            cells[column] = entry.value
        }
        return (cells, isWhole)
    }
}
