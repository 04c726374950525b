/// A key that names its item's owner: `owner-first|second`, with `-` in an owner, `|` in a parameter and `%` escaped.
package enum OwnedKey {
    static func key(owner: String, parameters: [String]) -> String {
        escaped(owner, "-", "%2D") + "-" + parameters.map { escaped($0, "|", "%7C") }.joined(separator: "|")
    }

    /// The owner in a key, which ends at the first `-`; `nil`: no owner.
    package static func owner(of key: String) -> String? {
        key.utf8.firstIndex(of: UInt8(ascii: "-")).map { unescaped(key[..<$0]) }
    }

    /// Whether an entry can store this owner. If not, only the key has it.
    package static func canBeNamed(_ owner: String) -> Bool { (1...255).contains(owner.utf8.count) }

    private static func escaped(_ text: String, _ sign: Character, _ code: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == sign.asciiValue }) else {
            return text
        }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "%": result += "%25"
            case sign.unicodeScalars.first: result += code
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func unescaped(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var result = ""
        var rest = text.unicodeScalars
        while let scalar = rest.popFirst() {
            let code = String(String.UnicodeScalarView(rest.prefix(2)))
            if scalar == "%", code == "25" || code == "2D" {
                result += code == "25" ? "%" : "-"
                rest = rest.dropFirst(2)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
