import CBOR
import StorageEngine

/// The properties of a CBOR map in memory that must outlive this. Nested values are skipped, not decoded.
package struct ObjectFields {
    /// The fields in the map's order. A name that isn't text is spelled as JSON.
    package var fields: [(name: String, item: UnsafeRawBufferPointer)] = []

    package init() {}

    /// Nil if the well-formed `item` isn't a map.
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

/// Collects the property names of objects as columns. A new name is inserted after the preceding name of its object, so that
/// columns keep the order of the objects.
package struct PropertyColumns {
    /// Names in order of appearance, with the index of the next column.
    private var seen: [String] = []
    private var next: [Int] = []
    private var first = -1
    private var last = -1
    private var places: [ExactText: Int] = [:]
    /// Whether a column has texts, and whether it has numbers, `true`, `false` or `null`.
    private var withTexts: Set<Int> = []
    private var withOthers: Set<Int> = []
    /// Number of properties of all objects.
    package private(set) var properties = 0

    package init() {}

    package var count: Int { seen.count }

    package mutating func add(_ object: ObjectFields) {
        // Objects without known properties are appended.
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

    /// Records whether an item is a text or another scalar, by its first byte.
    private mutating func note(_ item: UnsafeRawBufferPointer, _ place: Int) {
        switch item.first ?? 0 {
        case 0x40..<0x80: withTexts.insert(place)
        case 0x80..<0xc0: break
        case 0x00..<0x40, 0xf4...0xf6, 0xf9...0xfb: withOthers.insert(place)
        default:
            // The printed form depends on tags.
            switch (try? JSONPrinter.text(of: Array(item)))?.utf8.first {
            case nil, UInt8(ascii: "["), UInt8(ascii: "{"): break
            case UInt8(ascii: "\""): withTexts.insert(place)
            default: withOthers.insert(place)
            }
        }
    }

    private func hasKnown(_ object: ObjectFields) -> Bool {
        object.fields.contains { places[ExactText($0.name)] != nil }
    }

    package func table() -> PropertyTable {
        let order = Array(sequence(first: first) { next[$0] }.prefix { $0 >= 0 })
        let mixed = order.indices.filter { withTexts.contains(order[$0]) && withOthers.contains(order[$0]) }
        return PropertyTable(names: order.map { seen[$0] }, mixed: Set(mixed))
    }
}

package struct PropertyTable: Sendable {
    package let names: [String]
    /// The columns with texts and other scalars.
    package let mixed: Set<Int>
    private let columns: [ExactText: Int]

    fileprivate init(names: [String], mixed: Set<Int>) {
        self.names = names
        self.mixed = mixed
        columns = Dictionary(uniqueKeysWithValues: names.enumerated().map { (ExactText($1), $0) })
    }

    /// The values of an object by column; for repeated names, the first value.
    /// - Returns: `isWhole` is false for repeated names and for properties without a column.
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
