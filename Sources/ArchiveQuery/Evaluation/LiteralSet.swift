import CBOR
import StorageEngine

/// The values of a list in a query, for look-ups in logarithmic time, with the equality of ``LiteralValue``.
struct LiteralSet {
    /// Numbers of the values, from 0.
    private var places: [GroupKey: Int] = [:]
    /// The bytes of all texts in order, to look up a stored text or a key without building a string.
    private var texts: [(bytes: [UInt8], place: Int)] = []
    private var hasNonASCII = false
    private var hasDates = false
    private var hasUndatedTexts = false
    private var writtenDates: [Double: Int] = [:]
    let kinds: KindSet
    /// Whether a numeric text equals its number.
    private let readsNumbers: Bool

    var count: Int { places.count }

    /// - Parameter readsNumbers: see ``RowShape/readsNumbers(in:)``.
    init(_ literals: [QueryLiteral], readsNumbers: Bool) {
        kinds = literals.reduce([]) { $0.union($1.kind) }
        self.readsNumbers = readsNumbers && kinds.contains(.number)
        for literal in literals {
            let key = GroupKey(scalar: StoredItem(literal)) ?? .absent
            let place = places[key] ?? places.count
            places[key] = place
            if literal.kind == .date { hasDates = true }
            guard case .text(let text) = literal else { continue }
            if let date = TextValue(text).date { writtenDates[date] = place } else { hasUndatedTexts = true }
            texts.append((Array(text.utf8), place))
            if text.utf8.contains(where: { $0 >= 0x80 }) { hasNonASCII = true }
        }
        texts.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    func test(_ item: StoredItem, _ counter: KindCounts) -> Truth {
        let isDatedText = hasDates && item.isText && item.date != nil
        if isDatedText { counter.note(.date) }
        let number = number(of: item)
        counter.note(number.kind)
        if place(of: item, number) != nil { return .yes }
        switch number {
        case .absent: return .no
        case .failed: return .unknown
        default: break
        }
        let isUndated = hasDates && number.isText && !isDatedText || hasUndatedTexts && number.isDate
        if isUndated || !isDatedText && !kinds.isEmpty && number.kind.isDisjoint(with: kinds) {
            counter.count(number.kind)
        }
        return isUndated ? .unknown : .no
    }

    /// The number of the value that equals the item; `nil` if none does.
    func place(of item: StoredItem) -> Int? { place(of: item, number(of: item)) }

    private func place(of item: StoredItem, _ number: @autoclosure () -> StoredItem) -> Int? {
        plainPlace(of: item) ?? placeOfDate(item) ?? (readsNumbers ? plainPlace(of: number()) : nil)
    }

    /// Replaces a numeric text by its number if `readsNumbers`.
    private func number(of item: StoredItem) -> StoredItem { readsNumbers ? item.orNumber : item }

    /// A text in ISO 8601 equals its date, on both sides.
    private func placeOfDate(_ item: StoredItem) -> Int? {
        switch item {
        case .date(let date): writtenDates[date]
        case .text, .string, .key: hasDates ? item.date.flatMap { places[.date($0)] } : nil
        default: nil
        }
    }

    private func plainPlace(of item: StoredItem) -> Int? {
        if case .key(let key) = item { return key.withBytes { plainPlace(of: $0) } }
        if case .text(let text) = item, UTF8Text.isASCII(text) {
            if let place = plainPlace(of: text) { return place }
            // A few non-ASCII characters are equivalent to an ASCII one.
            guard hasNonASCII else { return nil }
        }
        return GroupKey(scalar: item).flatMap { places[$0] }
    }

    private func plainPlace(of text: UnsafeRawBufferPointer) -> Int? {
        let index = texts.partitioningIndex {
            $0.bytes.withUnsafeBytes { UTF8Text.compareBytes(text, $0) <= 0 }
        }
        guard index < texts.count, texts[index].bytes.withUnsafeBytes({ UTF8Text.isSame($0, text) }) else {
            return nil
        }
        return texts[index].place
    }

    /// Calls `body` with the number of each value in the list, perhaps repeatedly, until it returns false.
    func forEachElement(of list: StoredItem, _ body: (Int) -> Bool) throws(CBORError) {
        try list.forEachElement { element in place(of: element).map(body) ?? true }
    }
}
