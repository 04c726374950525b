/// A command as the server expects it: an array of strings of bytes. The first is its name.
package struct RESPCommand: Sendable, Hashable {
    package var words: [[UInt8]]

    package init(words: [[UInt8]]) { self.words = words }

    package init(_ words: String...) { self.words = words.map { Array($0.utf8) } }

    package static func + (command: RESPCommand, word: [UInt8]) -> RESPCommand {
        RESPCommand(words: command.words + [word])
    }

    package static func + (command: RESPCommand, word: some StringProtocol) -> RESPCommand {
        command + Array(word.utf8)
    }

    package static func + (command: RESPCommand, word: some BinaryInteger) -> RESPCommand {
        command + "\(word)"
    }

    package static func + (command: RESPCommand, words: [[UInt8]]) -> RESPCommand {
        RESPCommand(words: command.words + words)
    }

    package var name: String { words.first.map { String(decoding: $0, as: UTF8.self) } ?? "" }

    package func encode(into bytes: inout [UInt8]) {
        bytes += "*\(words.count)\r\n".utf8
        for word in words {
            bytes += "$\(word.count)\r\n".utf8
            bytes += word
            bytes += [13, 10]
        }
    }
}

extension Sequence<RESPCommand> {
    package var encoded: [UInt8] { reduce(into: []) { $1.encode(into: &$0) } }
}

/// Patterns of keys, as for `SCAN … MATCH`.
package enum KeyPattern {
    /// The pattern that matches a text. Escapes wildcards as bytes, because a combining mark may follow them.
    package static func escaped(_ text: some Sequence<UInt8>) -> [UInt8] {
        text.flatMap { "*?[]\\^".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    }
}
