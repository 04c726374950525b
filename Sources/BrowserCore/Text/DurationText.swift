/// A length of time as a person types it: `90s`, `5m`, `2h`, `3d`, `1h30m`. Stateless; safe to call from any thread.
package enum DurationText {
    private static let units: [(Character, Double)] = [
        ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400), ("w", 7 * 86_400),
    ]
    /// A hundred years: longer is a mistake.
    private static let maximum = 36_525.0 * 86_400

    /// Seconds; nil for what is no time, is nothing, or has no unit.
    package static func seconds(_ text: String) -> Double? {
        var total = 0.0
        var digits = ""
        for character in text.lowercased() where character != " " {
            if character == "." || (character.isASCII && character.isNumber) {
                digits.append(character)
            } else {
                guard let unit = units.first(where: { $0.0 == character }), let number = Double(digits)
                else { return nil }
                total += number * unit.1
                digits = ""
            }
        }
        return digits.isEmpty && total > 0 && total <= maximum ? total : nil
    }

    /// Exact to the second, so that it says what was typed: `5m`, `1h30m`, `3d`, `2.5s`.
    package static func text(_ seconds: Double) -> String {
        guard seconds >= 60 else { return Figures.decimal(seconds, digits: 2) + "s" }
        var rest = Int(min(seconds, maximum).rounded())
        var text = ""
        for unit in units.reversed() where unit.0 != "w" {
            let count = rest / Int(unit.1)
            if count > 0 { text += "\(count)\(unit.0)" }
            rest -= count * Int(unit.1)
        }
        return text
    }
}
