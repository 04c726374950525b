import ArgumentParser
import StoreInspection

/// What the program was called with. `CommandLine.arguments` has something else for bytes that aren't UTF-8, so two keys would
/// become one, and a value be stored under a key that nobody named.
enum ProgramArguments {
    /// The first arguments for the parser, which takes quadratic time; ``WordList`` replaces the stand-in for the others.
    /// - Throws: with the place of the first argument that isn't UTF-8.
    static func read() throws(CommandFailure) -> [String] {
        var arguments = try all()
        if let held = heldBack(of: arguments) { arguments.replaceSubrange(held, with: [standIn(held.count)]) }
        return arguments
    }

    /// The words that a stand-in replaces; nil for another word. No argument has a zero byte.
    static func words(behind word: String) -> ArraySlice<String>? {
        guard word.utf8.first == 0, let all = try? all() else { return nil }
        return heldBack(of: all).map { all[$0] }
    }

    private static func standIn(_ count: Int) -> String { "\0and \(count) more" }

    /// The longest run of words that are no options, without its first ones; nil if it is short.
    static func heldBack(of arguments: [String], keeping: Int = 16, from least: Int = 100) -> Range<Int>? {
        if arguments.first == "---completion" { return nil }
        var longest = 0..<0
        var start = 0
        let end = arguments.firstIndex(of: "--") ?? arguments.count
        for (place, word) in arguments[..<end].enumerated() where word.utf8.first == UInt8(ascii: "-") {
            if place - start > longest.count { longest = start..<place }
            start = place + 1
        }
        if end - start > longest.count { longest = start..<end }
        if arguments.count - end - 1 > longest.count { longest = end + 1..<arguments.count }
        return longest.count < least ? nil : longest.dropFirst(keeping)
    }

    private static func all() throws(CommandFailure) -> [String] {
        var arguments: [String] = []
        for place in 1..<max(1, Int(CommandLine.argc)) {
            guard let bytes = CommandLine.unsafeArgv[place] else { break }
            guard let argument = String(validatingCString: bytes) else {
                throw CommandFailure(
                    "argument \(place), \(TerminalSafe.quoted(String(cString: bytes))), isn't UTF-8; keys, names and paths "
                        + "are, and what came through another encoding has to be converted first",
                    status: .usage)
            }
            arguments.append(argument)
        }
        return arguments
    }

    /// The arguments but for the option that names the store, which stands before the command as well as behind it.
    static var withoutStore: [String] {
        var arguments: [String] = []
        var rest = CommandLine.arguments.dropFirst()
        while let argument = rest.popFirst() {
            if argument == "--" { return arguments + [argument] + rest }
            if argument == "--store" || argument == "-s" {
                _ = rest.popFirst()
            } else if !argument.hasPrefix("--store=") {
                arguments.append(argument)
            }
        }
        return arguments
    }
}

/// Sendable value type. An argument of a command that takes any number of them; see ``ProgramArguments/read()``.
struct WordList: Sendable, ExpressibleByArgument {
    let words: [String]

    init(argument: String) { words = ProgramArguments.words(behind: argument).map(Array.init) ?? [argument] }
}

extension [WordList] {
    var words: [String] { flatMap(\.words) }
}
