import TerminalCurses

/// The program's version: 0.MINOR.PATCH. MINOR changes with anything that scripts rely on; see Assets/CHANGELOG.md.
enum Version {
    static let number = "0.2.0"
    static let text = number + (SourceCommit.name.map { " (\($0))" } ?? "")
}
