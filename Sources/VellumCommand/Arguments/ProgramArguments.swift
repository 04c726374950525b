import StoreInspection

/// What the program was called with. `CommandLine.arguments` has something else for bytes that aren't UTF-8, so two keys would
/// become one, and a value be stored under a key that nobody named.
enum ProgramArguments {
    /// - Throws: with the place of the first argument that isn't UTF-8.
    static func read() throws(CommandFailure) -> [String] {
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
