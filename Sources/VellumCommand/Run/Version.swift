import TerminalCurses

/// The program's version: 0.MINOR.PATCH. MINOR changes with anything that scripts rely on; see Assets/CHANGELOG.md.
enum Version {
    static let number = "0.2.0"
    /// With the commit of the build, if known: `0.2.0 (7455518d21)`.
    static let text = number + (SourceCommit.name.map { " (\($0))" } ?? "")
}
