import StoreInspection

/// Stateless. Says how a key or name is written that begins with a dash, where it may have been taken for an option.
enum DashHint {
    /// Where help or the version was printed, and more than a command was named: the dash may have been meant as a key.
    static func forHelp(_ arguments: ArraySlice<String>) -> String? {
        guard arguments.first != "help", words(arguments).count > 1, let option = options(arguments).first else {
            return nil
        }
        return "\(option) asks for help" + "; " + behind(option)
    }

    /// Where the arguments can't be understood, and one of them has a dash.
    static func forError(_ arguments: ArraySlice<String>) -> String? {
        guard !words(arguments).isEmpty, let option = options(arguments).first(where: { !$0.hasPrefix("--store") }) else {
            return nil
        }
        return behind(option)
    }

    /// Of the arguments before `--`.
    static func options(_ arguments: ArraySlice<String>) -> [String] {
        arguments.prefix { $0 != "--" }.filter { $0.utf8.count > 1 && $0.utf8.first == UInt8(ascii: "-") }
    }

    private static func words(_ arguments: ArraySlice<String>) -> [String] {
        arguments.filter { $0.utf8.first != UInt8(ascii: "-") }
    }

    private static func behind(_ option: String) -> String {
        "a key or an archive that begins with - stands behind --, as in: vellum get City -- \(ShellWord.quoted(option))"
    }
}
