/// Advice for keys and names that begin with a dash and may have been read as options.
enum DashHint {
    /// The hint after help or the version was printed: the option may have been intended as a key.
    static func forHelp(_ arguments: [String]) -> String? {
        // A completion script would insert the hint into the typed line.
        guard arguments.first != "help", !arguments.contains("---completion"), words(arguments).count > 1,
            let option = options(arguments).first
        else { return nil }
        return "\(option) was read as an option; \(separatorAdvice(option))"
    }

    /// The hint if a word begins with a dash and an argument is missing, or an option is unknown and resembles no other.
    static func forError(_ message: String, _ arguments: [String]) -> String? {
        if let attached = attached(message, arguments) { return attached }
        guard !message.contains("Did you mean") else { return nil }
        let isAboutWords = ["Unknown option", "Missing expected argument"].contains { message.contains($0) }
        let options = options(arguments)
        // An unknown option is probably the key.
        let unknown = options.first { message.contains("Unknown option '\($0.prefix { $0 != "=" })'") }
        guard isAboutWords, !words(arguments).isEmpty, let option = unknown ?? options.first else {
            return nil
        }
        return separatorAdvice(option)
    }

    /// The hint if an option's value is missing, and a negative number follows.
    private static func attached(_ message: String, _ arguments: [String]) -> String? {
        guard message.contains("Missing value for") else { return nil }
        for (option, value) in zip(arguments, arguments.dropFirst())
        where Double(value) != nil && options([value]) == [value] && message.contains("'\(option) ") {
            return "\(value) was parsed as an option; attach the value of \(option): "
                + ShellWord.quoted("\(option)=\(value)")
        }
        return nil
    }

    /// Words with a dash before `--`.
    static func options(_ arguments: [String]) -> [String] {
        arguments.prefix { $0 != "--" }.filter { $0.utf8.count > 1 && $0.utf8.first == UInt8(ascii: "-") }
    }

    private static func words(_ arguments: [String]) -> [String] {
        arguments.filter { $0.utf8.first != UInt8(ascii: "-") }
    }

    private static func separatorAdvice(_ option: String) -> String {
        "put a key or an archive that begins with - after --, as in: vellum get City -- \(ShellWord.quoted(option))"
    }
}
