import StoreInspection

/// Stateless. Says how a key or name is written that begins with a dash, where it may have been taken for an option.
enum DashHint {
    /// Where help or the version was printed, and more than a command was named: the dash may have been meant as a key.
    static func forHelp(_ arguments: [String]) -> String? {
        // Where a shell asks for completions, it would stand in the line that is being typed.
        guard arguments.first != "help", !arguments.contains("---completion"), words(arguments).count > 1,
            let option = options(arguments).first
        else {
            return nil
        }
        return "\(option) asks for help; \(behind(option))"
    }

    /// Where a word is missing or an option isn't known, and there is a word with a dash.
    static func forError(_ message: String, _ arguments: [String]) -> String? {
        if let attached = attached(message, arguments) { return attached }
        let isAboutWords = ["Unknown option", "Missing expected argument"].contains { message.contains($0) }
        let options = options(arguments)
        // Where one isn't known, that may be the word.
        let unknown = options.first { message.contains("Unknown option '\($0.prefix { $0 != "=" })'") }
        guard isAboutWords, !words(arguments).isEmpty, let option = unknown ?? options.first else {
            return nil
        }
        return behind(option)
    }

    /// Where an option's value is said to be missing, and a number below zero stands behind it.
    private static func attached(_ message: String, _ arguments: [String]) -> String? {
        guard message.contains("Missing value for") else { return nil }
        for (option, value) in zip(arguments, arguments.dropFirst())
        where Double(value) != nil && options([value]) == [value] && message.contains("'\(option) ") {
            return "\(value) was taken for an option; as a value of \(option) it is attached: "
                + ShellWord.quoted("\(option)=\(value)")
        }
        return nil
    }

    /// Of the arguments before `--`.
    static func options(_ arguments: [String]) -> [String] {
        arguments.prefix { $0 != "--" }.filter { $0.utf8.count > 1 && $0.utf8.first == UInt8(ascii: "-") }
    }

    private static func words(_ arguments: [String]) -> [String] {
        arguments.filter { $0.utf8.first != UInt8(ascii: "-") }
    }

    private static func behind(_ option: String) -> String {
        "a key or an archive that begins with - stands behind --, as in: vellum get City -- \(ShellWord.quoted(option))"
    }
}
