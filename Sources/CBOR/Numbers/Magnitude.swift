/// A natural number of any size. Bases convert in O(size²), hence ``maximumDigits``.
struct Magnitude: Sendable, Equatable {
    /// The longest number that is converted between decimal digits and bytes: 16,384 digits, a few milliseconds.
    static let maximumDigits = 16_384
    /// The size in bytes of the largest number of ``maximumDigits`` digits: 16,384 * log2(10) / 8, rounded up.
    static let maximumBytes = 6_804

    /// The largest power of ten in a word, and its exponent.
    private static let chunk: UInt64 = 10_000_000_000_000_000_000
    private static let chunkDigits = 19

    /// Least significant first, without zeros at the end.
    private var words: [UInt64] = []

    init(_ word: UInt64) {
        words = [word]
        trim()
    }

    init(decimalDigits digits: some RandomAccessCollection<UInt8>) {
        var rest = digits[...]
        while !rest.isEmpty {
            // The first chunk takes the digits that don't fill a chunk, so that all others are full.
            let length = (rest.count - 1) % Self.chunkDigits + 1
            var number: UInt64 = 0
            for digit in rest.prefix(length) { number = number * 10 + UInt64(digit - UInt8(ascii: "0")) }
            rest = rest.dropFirst(length)
            multiply(by: Self.chunk, adding: number)
        }
    }

    /// From bytes, most significant first. Leading zeros are ignored.
    init(bigEndian bytes: some RandomAccessCollection<UInt8>) {
        var word: UInt64 = 0
        var shift: UInt64 = 0
        for byte in bytes.reversed() {
            word |= UInt64(byte) << shift
            shift += 8
            if shift == 64 {
                words.append(word)
                word = 0
                shift = 0
            }
        }
        words.append(word)
        trim()
    }

    var word: UInt64? { words.count > 1 ? nil : words.first ?? 0 }

    /// Most significant first, without leading zeros; empty for 0.
    var bigEndianBytes: [UInt8] {
        var bytes: [UInt8] = []
        for word in words.reversed() {
            withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return Array(bytes.drop { $0 == 0 })
    }

    /// ASCII digits without leading zeros; "0" for 0.
    var decimalDigits: [UInt8] {
        var rest = self
        var reversed: [UInt8] = []
        while !rest.words.isEmpty {
            var chunk = rest.divide(by: Self.chunk)
            for _ in 0..<Self.chunkDigits where chunk > 0 || !rest.words.isEmpty {
                reversed.append(UInt8(ascii: "0") + UInt8(chunk % 10))
                chunk /= 10
            }
        }
        return reversed.isEmpty ? [UInt8(ascii: "0")] : reversed.reversed()
    }

    func incremented() -> Magnitude {
        var result = self
        result.multiply(by: 1, adding: 1)
        return result
    }

    /// One less; the number must not be 0.
    func decremented() -> Magnitude {
        var result = self
        for place in result.words.indices {
            let (word, borrow) = result.words[place].subtractingReportingOverflow(1)
            result.words[place] = word
            if !borrow { break }
        }
        result.trim()
        return result
    }

    private mutating func multiply(by factor: UInt64, adding addend: UInt64) {
        var carry = addend
        for place in words.indices {
            let (high, low) = words[place].multipliedFullWidth(by: factor)
            let (sum, overflow) = low.addingReportingOverflow(carry)
            words[place] = sum
            carry = high + (overflow ? 1 : 0)
        }
        if carry > 0 { words.append(carry) }
    }

    private mutating func divide(by divisor: UInt64) -> UInt64 {
        var remainder: UInt64 = 0
        for place in words.indices.reversed() {
            (words[place], remainder) = divisor.dividingFullWidth((remainder, words[place]))
        }
        trim()
        return remainder
    }

    private mutating func trim() {
        while words.last == 0 { words.removeLast() }
    }
}
