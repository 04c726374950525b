/// The user's clipboard, also over ssh, by xterm's sequence OSC 52: `ESC ] 52 ; c ; BASE64 BEL`. Terminals send no answer.
package enum Clipboard: Sendable, Hashable {
    case direct
    /// tmux uses the sequence itself with `set-clipboard on`, and passes a wrapped one on with `allow-passthrough on` (before
    /// version 3.3 always), so both forms are sent.
    case tmux
    /// GNU screen forwards wrapped sequences, split to fit its buffer.
    case screen
    /// A terminal without a clipboard.
    case none(type: String)

    /// Maximum bytes of base64: terminals that limit it accept 100,000, some fewer.
    package static let maximumBase64 = 74_994
    package static let maximumBytes = maximumBase64 / 4 * 3

    /// GNU screen's limit of a string up to version 4.0, minus the wrapping.
    private static let screenPiece = 252

    /// Reads `TMUX`, `STY` and `TERM`. Over ssh only `TERM` is set; `screen` may also be tmux, which ignores the wrapping.
    package init(environment: [String: String]) {
        let type = environment["TERM"] ?? ""
        let without = ["linux", "vt", "dumb", "ansi", "cons25", "unknown"]
        if environment["TMUX"]?.isEmpty == false || type.hasPrefix("tmux") {
            self = .tmux
        } else if environment["STY"]?.isEmpty == false || type.hasPrefix("screen") {
            self = .screen
        } else if type.isEmpty || without.contains(where: type.hasPrefix) {
            self = .none(type: type)
        } else {
            self = .direct
        }
    }

    /// The sequence that copies the bytes; nil without a clipboard or above its limit. Base64 encodes any control sequences.
    package func sequence(for bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count <= Clipboard.maximumBytes else { return nil }
        let plain = Array("\u{1b}]52;c;".utf8) + Clipboard.base64(bytes) + [0x07]
        switch self {
        case .none: return nil
        case .direct: return plain
        case .tmux:
            // Within the wrapping, each ESC is doubled.
            return plain + Array("\u{1b}Ptmux;\u{1b}".utf8) + plain + Array("\u{1b}\\".utf8)
        case .screen:
            var wrapped: [UInt8] = []
            for start in stride(from: 0, to: plain.count, by: Clipboard.screenPiece) {
                let piece = plain[start..<min(start + Clipboard.screenPiece, plain.count)]
                wrapped += Array("\u{1b}P".utf8) + piece + Array("\u{1b}\\".utf8)
            }
            return wrapped
        }
    }

    /// Base64 with padding (RFC 4648, section 4).
    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - group.count))
            for place in 0..<4 {
                let digit = digits[Int(bits >> (18 - 6 * UInt32(place)) & 63)]
                text.append(place <= group.count ? digit : UInt8(ascii: "="))
            }
        }
        return text
    }
}
