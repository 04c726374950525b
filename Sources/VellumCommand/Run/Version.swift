import TerminalCurses

/// Stateless. What this program calls itself: 0.MINOR.PATCH, where MINOR changes when something that scripts rely on may
/// have. Assets/CHANGELOG.md says what came with each.
enum Version {
    static let number = "0.2.0"
    /// With the commit that it was built from, where that is known: `0.2.0 (7455518d21)`.
    static let text = number + (SourceCommit.name.map { " (\($0))" } ?? "")
}
