import CBOR

/// The values of a list in a query, made ready to be looked up: what a look-up costs doesn't depend on how many there are,
/// but for a logarithm. Equal means what it means to ``LiteralValue``.
struct LiteralSet {
    /// One value has one key, however it is written or stored.
    private enum Key: Hashable {
        case absent
        case boolean(Bool)
        case integer(Int128)
        case float(Double)
        case text(String)
        case date(Double)

        init(_ literal: LiteralValue) {
            switch literal {
            case .absent: self = .absent
            case .boolean(let flag): self = .boolean(flag)
            case .number(.integer(let number)): self = .integer(number)
            case .number(.float(let number)): self = Self.number(number)
            case .number(.decimal(let number)): self = .float(number.nearestDouble ?? .nan)
            case .text(let text): self = .text(text.string)
            case .date(let date): self = .date(date)
            }
        }

        /// `nil`: nothing that a literal can be.
        init?(_ item: StoredItem) {
            switch item {
            case .absent: self = .absent
            case .boolean(let flag): self = .boolean(flag)
            case .number(.integer(let number)): self = .integer(number)
            case .number(.float(let number)): self = Self.number(number)
            case .text(let text): self = .text(MarkOrder.string(text))
            case .string(let text): self = .text(MarkOrder.string(text))
            case .date(let date): self = .date(date)
            // A decimal number is what no integer and no float is.
            case .number(.decimal), .bytes, .array, .map, .other: return nil
            }
        }

        /// Floats that are whole are the integers that they equal; no integer here is beyond these bounds.
        private static func number(_ number: Double) -> Key {
            let isInteger = number.magnitude < 0x1p65 && number.rounded(.towardZero) == number
            return isInteger ? .integer(Int128(number)) : .float(number)
        }
    }

    /// Each value's number, from 0.
    private var places: [Key: Int] = [:]
    /// Texts of ASCII alone, in order: they are found without making a string of what is stored.
    private var plainTexts: [(bytes: [UInt8], place: Int)] = []
    private var hasOtherTexts = false
    private var hasDates = false
    /// Values that are written as texts, and are dates.
    private var writtenDates: [Double: Int] = [:]
    private var characters: [Character: Int] = [:]

    /// How many different values there are.
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

    /// The number of the value that is equal to the item; `nil`: none is.
    func place(of item: StoredItem) -> Int? {
        place(ofPlain: item) ?? placeOfDate(item)
    }

    /// A text that is a date is one, on either side.
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
            // A few characters that are not ASCII are the same as one that is.
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

    /// Calls `body` with the numbers of values that are elements of the item, or characters of it if it is a text, some
    /// perhaps more than once, until it returns false.
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
