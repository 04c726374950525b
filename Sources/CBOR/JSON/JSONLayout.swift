/// The layout of JSON text.
public enum JSONLayout: Sendable, Hashable {
    /// One line without white space.
    case compact
    /// One entry or item per line, indented by two spaces per level, a space after each colon. Empty containers are `{}` and `[]`.
    case pretty
}
