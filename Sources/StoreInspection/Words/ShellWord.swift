import TerminalKit

/// Words of a shell's command line, by bytes and scalars, as shells see them.
package enum ShellWord {
    /// The word, in single quotes if needed. Control and invisible characters become octal bytes in `$'…'`
    /// (POSIX.1-2024), and so do quotes and backslashes, so that dash, which doesn't support this form, executes nothing in it.
    package static func quoted(_ word: String) -> String {
        guard word.allSatisfy(TerminalText.isShownWhole) else { return escaped(word) }
        return !word.isEmpty && word.utf8.allSatisfy(isPlain) ? word : literal(word)
    }

    /// Whether a command line can contain the word.
    package static func isPassable(_ word: String) -> Bool { !word.utf8.contains(0) }

    /// The word in single quotes with any characters.
    package static func literal(_ word: String) -> String {
        var text = "'"
        for scalar in word.unicodeScalars {
            if scalar == "'" { text += "'\\''" } else { text.unicodeScalars.append(scalar) }
        }
        return text + "'"
    }

    /// The words of a line as a shell splits it, without expansions such as `$` and `*`, and the offset of the last one in bytes.
    /// An unclosed word extends to the end; after white space the last word is empty.
    package static func words(in line: String) -> (words: [String], last: Int) {
        var words: [[UInt8]] = [[]]
        var (last, quote, isEscaped) = (0, UInt8(0), false)
        for (place, byte) in line.utf8.enumerated() {
            switch byte {
            case _ where isEscaped:
                // In double quotes a backslash is kept before all other characters (POSIX, 2.2.3).
                if quote != 0, !"\"\\$`".utf8.contains(byte) { words[words.count - 1].append(backslash) }
                words[words.count - 1].append(byte)
                isEscaped = false
            case backslash where quote != UInt8(ascii: "'"): isEscaped = true
            case _ where quote == byte: quote = 0
            case _ where quote != 0: words[words.count - 1].append(byte)
            case UInt8(ascii: "'"), UInt8(ascii: "\""): quote = byte
            case UInt8(ascii: " "), UInt8(ascii: "\t"):
                if place > last { words.append([]) }
                last = place + 1
            default: words[words.count - 1].append(byte)
            }
        }
        return (words.map { String(decoding: $0, as: UTF8.self) }, last)
    }

    private static let backslash = UInt8(ascii: "\\")

    /// The command line of `vellum NAME`. Arguments that look like options, such as a key `--all`, follow `--`.
    package static func vellum(
        _ name: String, _ arguments: [String] = [], options: [String] = [], store: String?
    ) -> String {
        let isRisky = arguments.contains { $0.utf8.first == UInt8(ascii: "-") }
        let place = store.map { ["--store", $0.utf8.first == UInt8(ascii: "-") ? "./" + $0 : $0] } ?? []
        let words =
            ["vellum"] + place + [name] + (isRisky ? options + ["--"] + arguments : arguments + options)
        return words.map(quoted).joined(separator: " ")
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_./:=@%+,".utf8.contains(byte)
        }
    }

    private static func escaped(_ word: String) -> String {
        var text = "$'"
        for character in word {
            let isWhole = TerminalText.isShownWhole(character)
            for scalar in character.unicodeScalars {
                if isWhole, scalar != "'", scalar != "\\" {
                    text.unicodeScalars.append(scalar)
                } else {
                    for byte in scalar.utf8 { text += octal(byte) }
                }
            }
        }
        return text + "'"
    }

    private static func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }
}
