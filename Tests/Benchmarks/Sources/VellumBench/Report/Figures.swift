import Foundation

/// Numbers in readable form.
enum Figures {
    /// Nanoseconds with three significant digits below a thousand, and a thousands separator above.
    static func nanoseconds(_ value: Double) -> String {
        value < 1000 ? String(format: "%.1f", value) : grouped(Int(value.rounded()))
    }

    static func ratio(_ value: Double) -> String { String(format: "%.2f ×", value) }

    static func short(_ value: Double) -> String {
        let rounded = (value * 1000).rounded() / 1000
        return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
    }

    static func grouped(_ value: Int) -> String {
        var digits = String(value)
        var parts: [String] = []
        while digits.count > 3 {
            parts.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + parts).joined(separator: ",")
    }
}
