/// Reads and writes durations such as `500ms`, `90s`, `2.5h`, `1h30m`, `2w`, for queries and options.
package enum DurationText {
    /// In microseconds, the largest first.
    private static let units: [(name: String, size: Int64)] = [
        ("w", 604_800_000_000), ("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000),
        ("s", 1_000_000), ("ms", 1000),
    ]
    /// The longest TTL of an entry.
    private static let longest: Int64 = 36_500 * 86_400_000_000

    enum Reading: Equatable {
        /// Rounded to the nearest.
        case microseconds(Int64)
        /// More than 64 bits of microseconds.
        case tooLong
        case noDuration
    }

    static func isUnit(_ name: String) -> Bool { units.contains { $0.name == name } }

    static func read(_ text: some StringProtocol) -> Reading {
        var rest = Substring(text)
        var total: Int128 = 0
        repeat {
            let number = rest.prefix { $0 == "." || $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(number.count)
            let name = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(name.count)
            guard let unit = units.first(where: { $0.name == name }) else { return .noDuration }
            guard let part = UnitCount(number)?.times(Int128(unit.size)) else { return .noDuration }
            total += (part.product * 2 + part.scale) / (part.scale * 2)
            guard total <= Int128(Int64.max) else { return .tooLong }
        } while !rest.isEmpty
        return .microseconds(Int64(total))
    }

    /// Parses a duration in either case, with spaces. Throws for no duration, zero, and more than 36,500 days.
    package static func interval(_ text: String) throws(DurationFault) -> Duration {
        switch read(text.lowercased().filter { $0 != " " }) {
        case .noDuration:
            let what = Double(text) == nil ? "is not a duration" : "has no unit"
            throw DurationFault(description: "\"\(text)\" \(what); write 500ms, 90s, 5m, 1h30m, 3d or 2w")
        case .microseconds(let length) where length <= longest:
            guard length > 0 else { throw DurationFault(description: "a duration is longer than 0") }
            return .microseconds(length)
        case .microseconds, .tooLong: throw DurationFault(description: "\"\(text)\" is longer than 36500d")
        }
    }

    /// The exact duration: `5m`, `90s`, `1h30m`, `2.5s`, `500ms`.
    package static func text(microseconds: Int64) -> String {
        var rest = microseconds
        var text = ""
        if rest % 60_000_000 == 0 || rest >= 100_000_000 {
            for unit in units where (60_000_000...86_400_000_000).contains(unit.size) {
                let (count, left) = rest.quotientAndRemainder(dividingBy: unit.size)
                if count > 0 { text += "\(count)\(unit.name)" }
                rest = left
            }
        }
        if rest == 0 { return text.isEmpty ? "0s" : text }
        return text + (rest < 1_000_000 ? decimal(rest, 1000) + "ms" : decimal(rest, 1_000_000) + "s")
    }

    /// Rounds to the microsecond.
    package static func text(_ duration: Duration) -> String {
        text(microseconds: Int64((duration / .microseconds(1)).rounded()))
    }

    private static func decimal(_ number: Int64, _ scale: Int64) -> String {
        let (whole, rest) = number.quotientAndRemainder(dividingBy: scale)
        var fraction = rest == 0 ? "" : "." + String(scale + rest).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return "\(whole)\(fraction)"
    }
}

/// Why a text isn't a duration, in one line.
package struct DurationFault: Error, CustomStringConvertible {
    package let description: String
}

struct UnitCount {
    private let digits: Int128
    private let scale: Int128

    /// Nil for anything else, and beyond 24 characters.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), text.utf8.count <= 24,
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }),
            let digits = Int128(parts.joined())
        else { return nil }
        self.digits = digits
        scale = (0..<(parts.count == 2 ? parts[1].count : 0)).reduce(1 as Int128) { power, _ in power * 10 }
    }

    /// Nil beyond 126 bits.
    func times(_ unit: Int128) -> (product: Int128, scale: Int128)? {
        let (product, overflows) = digits.multipliedReportingOverflow(by: unit)
        return overflows || product >= 1 << 125 ? nil : (product, scale)
    }
}
