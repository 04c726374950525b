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

    package var name: String { words.first.map { String(decoding: $0, as: UTF8.self) } ?? "" }

    package func encode(into bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + words.reduce(16) { $0 + $1.count + 24 })
        RESPCommand.append("*", words.count, to: &bytes)
        for word in words {
            RESPCommand.append("$", word.count, to: &bytes)
            bytes += word
            bytes += [13, 10]
        }
    }

    private static func append(_ kind: Unicode.Scalar, _ number: Int, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: kind))
        bytes += "\(number)\r\n".utf8
    }
}
