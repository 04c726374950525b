/// Stateless. What this program calls itself: 0.MINOR.PATCH, where MINOR changes when something that scripts rely on may
/// have. Assets/CHANGELOG.md says what came with each.
enum Version {
    static let text = "0.2.0"
}
