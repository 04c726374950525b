/// The arguments of the process. `CommandLine.arguments` replaces bytes that aren't UTF-8, which would merge different keys.
enum ProgramArguments {
    /// Replaces most of a long run of words by a placeholder, as parsing takes quadratic time; ``WordList`` expands it.
    /// - Throws: an error with the position of the first argument that isn't UTF-8.
    static func read() throws(CommandFailure) -> [String] {
        var arguments = try all()
        if let held = heldBack(of: arguments) {
            arguments.replaceSubrange(held, with: ["\0and \(held.count) more"])
        }
        return arguments
    }

    /// The words that a placeholder replaces; nil if the word isn't a placeholder. Only placeholders begin with a zero byte.
    static func words(replacedBy word: String) -> ArraySlice<String>? {
        guard word.utf8.first == 0, let all = try? all() else { return nil }
        return heldBack(of: all).map { all[$0] }
    }

    /// The range to replace: the longest run of words that aren't options, without its first `keeping` words. Nil if that range has
    /// fewer than `least` words.
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
                    "argument \(place), \(TerminalSafe.quoted(String(cString: bytes))), isn't UTF-8; convert it first",
                    status: .usage)
            }
            arguments.append(argument)
        }
        return arguments
    }

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

/// The value of a variadic argument; see ``ProgramArguments/read()``.
struct WordList: Sendable, ExpressibleByArgument {
    let words: [String]

    init(argument: String) {
        words = ProgramArguments.words(replacedBy: argument).map(Array.init) ?? [argument]
    }
}

extension [WordList] {
    var words: [String] { flatMap(\.words) }
}
