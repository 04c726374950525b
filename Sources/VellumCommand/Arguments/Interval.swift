import ArgumentParser

/// Sendable value type. A length of time as a person writes it: `500ms`, `90s`, `5m`, `2h`, `3d`.
struct Interval: Sendable, Hashable {
    let duration: Duration
    /// As it was written.
    let text: String

    /// Microseconds a unit has. The first that ends the text counts, so `ms` stands before `s`.
    private static let units: [(suffix: String, microseconds: Int64)] = [
        ("ms", 1000), ("s", 1_000_000), ("m", 60_000_000), ("h", 3_600_000_000), ("d", 86_400_000_000),
    ]
    private static let longest: Int64 = 36_500 * 86_400_000_000

    /// Digits, perhaps with a fraction, and a unit.
    /// - Throws: what is wrong with it: no unit, no number, nothing or less, more than 36,500 days.
    init(_ text: String) throws {
        guard let unit = Self.units.first(where: { text.hasSuffix($0.suffix) }) else {
            throw ValidationError(
                "\"\(text)\" has no unit; write a duration such as 500ms, 90s, 5m, 2h or 3d")
        }
        let digits = text.dropLast(unit.suffix.count)
        guard let first = digits.first, first.isASCII, first.isNumber,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }),
            let number = Double(digits)
        else {
            throw ValidationError("\"\(text)\" is no duration; write one such as 500ms, 90s, 5m, 2h or 3d")
        }
        let microseconds = (number * Double(unit.microseconds)).rounded()
        guard microseconds > 0 else { throw ValidationError("a duration is longer than 0") }
        guard microseconds <= Double(Self.longest) else {
            throw ValidationError("\"\(text)\" is longer than 36500d")
        }
        duration = .microseconds(Int64(microseconds))
        self.text = text
    }

    /// For options that take one.
    @Sendable static func parse(_ text: String) throws -> Interval { try Interval(text) }

    var seconds: Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
