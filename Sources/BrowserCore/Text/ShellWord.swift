import TerminalKit

/// Words of a shell's command line. Stateless; safe to call from any thread.
package enum ShellWord {
    /// The word as shells read it back, in single quotes where it needs them. A word with characters that a terminal
    /// would obey or hide is spelled `$'…'` (POSIX.1-2024, dollar-single-quotes) with these as octal bytes, so that what
    /// is seen is what can be copied.
    package static func quoted(_ word: String) -> String {
        guard word.allSatisfy(TerminalText.isHarmless) else { return escaped(word) }
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_./:=@%+,".utf8.contains(byte)
                }
            }
        return isPlain
            ? word
            : "'"
                + word.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: "'\\''") + "'"
    }

    private static func escaped(_ word: String) -> String {
        var text = "$'"
        for character in word {
            if !TerminalText.isHarmless(character) {
                for byte in character.utf8 {
                    let octal = String(byte, radix: 8)
                    text += "\\" + String(repeating: "0", count: 3 - octal.count) + octal
                }
            } else {
                if character == "'" || character == "\\" { text += "\\" }
                text.append(character)
            }
        }
        return text + "'"
    }
}
