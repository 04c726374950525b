import CBOR
import StorageEngine

/// The properties of a CBOR map where they lie, valid as long as its bytes. Of a nested value only the beginning is read.
package struct ObjectFields {
    /// In order. A name that is no text is spelled as JSON spells it.
    package var fields: [(name: String, item: UnsafeRawBufferPointer)] = []

    package init() {}

    /// Nil if `item`, which is well-formed, is no map.
    package init?(_ item: UnsafeRawBufferPointer) {
        var reader = CBORReader(item)
        func readItem() throws(CBORError) -> UnsafeRawBufferPointer {
            let start = reader.offset
            try reader.skipItem()
            return UnsafeRawBufferPointer(rebasing: item[start..<reader.offset])
        }
        do throws(CBORError) {
            guard case .map(let count) = try reader.readHead() else { return nil }
            while count.map({ fields.count < $0 }) ?? !reader.readBreak() {
                let key = try readItem()
                fields.append((try CBORReader.decode(key).memberName, try readItem()))
            }
        } catch { return nil }
    }
}

/// Collects the names of all properties of some objects, as columns. A new name comes behind the one that it follows in its
/// object, so that objects of a common order have their columns in that order.
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

    package mutating func add(_ object: ObjectFields) {
        // What has no property of the others comes behind them.
        var previous: Int? = hasKnown(object) || seen.isEmpty ? nil : last
        for field in object.fields {
            properties += 1
            let name = field.name
            if let known = places[ExactText(name)] {
                previous = known
                note(field.item, known)
                continue
            }
            note(field.item, seen.count)
            let place = seen.count
            places[ExactText(name)] = place
            seen.append(name)
            next.append(previous.map { next[$0] } ?? first)
            if next[place] < 0 { last = place }
            if let previous { next[previous] = place } else { first = place }
            previous = place
        }
    }

    /// By the first byte (RFC 8949, section 3).
    private mutating func note(_ item: UnsafeRawBufferPointer, _ place: Int) {
        switch item.first ?? 0 {
        case 0x40..<0x80: withTexts.insert(place)
        case 0x80..<0xc0: break
        case 0x00..<0x40, 0xf4...0xf6, 0xf9...0xfb: withOthers.insert(place)
        // What is printed as a text, a number or null.
        default:
            withTexts.insert(place)
            withOthers.insert(place)
        }
    }

    private func hasKnown(_ object: ObjectFields) -> Bool {
        object.fields.contains { places[ExactText($0.name)] != nil }
    }

    /// The columns of all names so far.
    package func table() -> PropertyTable {
        let order = Array(sequence(first: first) { next[$0] }.prefix { $0 >= 0 })
        let mixed = order.indices.filter { withTexts.contains(order[$0]) && withOthers.contains(order[$0]) }
        return PropertyTable(names: order.map { seen[$0] }, mixed: Set(mixed))
    }
}

/// Rows of objects under the names of their properties.
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
    package func row(of object: ObjectFields) -> (cells: [UnsafeRawBufferPointer?], isWhole: Bool) {
        var cells = [UnsafeRawBufferPointer?](repeating: nil, count: names.count)
        var isWhole = true
        for field in object.fields {
            guard let column = columns[ExactText(field.name)], cells[column] == nil else {
                isWhole = false
                continue
            }
            cells[column] = field.item
        }
        return (cells, isWhole)
    }
}
