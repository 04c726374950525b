import CBOR

/// The values of a list in a query, prepared for look-ups in logarithmic time at most. Equality is that of
/// ``LiteralValue``.
struct LiteralSet {
    /// Equal values have equal keys, however they are written or stored.
    private enum Key: Hashable {
        case absent
        case boolean(Bool)
        case integer(Int128)
        case float(Double)
        case decimal(DecimalNumber)
        case text(String)
        case date(Double)

        init(_ literal: LiteralValue) {
            switch literal {
            case .absent: self = .absent
            case .boolean(let flag): self = .boolean(flag)
            case .number(.integer(let number)): self = .integer(number)
            case .number(.float(let number)): self = Self.number(number)
            case .number(.decimal(let number)): self = .decimal(number)
            case .text(let text): self = .text(text.string)
            case .date(let date): self = .date(date)
            }
        }

        /// Nil for an item that no literal can equal.
        init?(_ item: StoredItem) {
            switch item {
            case .absent: self = .absent
            case .boolean(let flag): self = .boolean(flag)
            case .number(.integer(let number)): self = .integer(number)
            case .number(.float(let number)): self = Self.number(number)
            case .number(.decimal(let number)): self = .decimal(number)
            case .text(let text): self = .text(MarkOrder.string(text))
            case .string(let text): self = .text(MarkOrder.string(text))
            case .date(let date): self = .date(date)
            case .bytes, .array, .map, .other: return nil
            }
        }

        /// An integral float has the key of the integer that it equals. No integer here exceeds the bounds.
        private static func number(_ number: Double) -> Key {
            let isInteger = number.magnitude < 0x1p65 && number.rounded(.towardZero) == number
            return isInteger ? .integer(Int128(number)) : .float(number)
        }
    }

    /// Each value's number, from 0.
    private var places: [Key: Int] = [:]
    /// ASCII texts in order, so that a stored text can be looked up without building a string.
    private var plainTexts: [(bytes: [UInt8], place: Int)] = []
    private var hasOtherTexts = false
    private var hasDates = false
    /// Texts among the values that are dates in ISO 8601.
    private var writtenDates: [Double: Int] = [:]
    private var characters: [Character: Int] = [:]

    /// The number of different values.
    var count: Int { places.count }

    init(_ literals: [QueryLiteral]) {
        for literal in literals {
            let value = LiteralValue(literal)
            let key = Key(value)
            guard places[key] == nil else { continue }
            let place = places.count
            places[key] = place
            if case .date = literal { hasDates = true }
            guard case .text(let text) = literal else { continue }
            if let date = TextValue(text).date { writtenDates[date] = place }
            if text.utf8.allSatisfy({ $0 < 0x80 }) {
                plainTexts.append((Array(text.utf8), place))
            } else {
                hasOtherTexts = true
            }
            if text.count == 1, let character = text.first { characters[character] = place }
        }
        plainTexts.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// The number of the value that equals the item; `nil` if none does.
    func place(of item: StoredItem) -> Int? {
        place(ofPlain: item) ?? placeOfDate(item)
    }

    /// A text in ISO 8601 equals its date, on both sides.
    private func placeOfDate(_ item: StoredItem) -> Int? {
        switch item {
        case .date(let date): writtenDates[date]
        case .text(let text) where hasDates: DateText.date(text).flatMap { places[.date($0)] }
        default: nil
        }
    }

    private func place(ofPlain item: StoredItem) -> Int? {
        if case .text(let text) = item, UTF8Text.isASCII(text) {
            if let place = plainPlace(of: text) { return place }
            // A few non-ASCII characters are equivalent to an ASCII one.
            guard hasOtherTexts else { return nil }
        }
        return Key(item).flatMap { places[$0] }
    }

    private func plainPlace(of text: UnsafeRawBufferPointer) -> Int? {
        var (low, high) = (0, plainTexts.count)
        while low < high {
            let middle = (low + high) / 2
            let order = plainTexts[middle].bytes.withUnsafeBytes { UTF8Text.compareBytes(text, $0) }
            if order == 0 { return plainTexts[middle].place }
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        return nil
    }

    /// Calls `body` with the number of each value that is an element of the item or, for a text, a character of it,
    /// until `body` returns false. A number may come more than once.
    func forEachElement(of item: StoredItem, _ body: (Int) -> Bool) throws(CBORError) {
        switch item {
        case .array:
            try item.forEachElement { element in place(of: element).map(body) ?? true }
        case .text(let text): forEachCharacter(of: MarkOrder.string(text), body)
        case .string(let text): forEachCharacter(of: MarkOrder.string(text), body)
        case .absent, .boolean, .number, .bytes, .date, .map, .other: break
        }
    }

    private func forEachCharacter(of text: String, _ body: (Int) -> Bool) {
        guard !characters.isEmpty else { return }
        for character in text {
            if let place = characters[character], !body(place) { return }
        }
    }
}
