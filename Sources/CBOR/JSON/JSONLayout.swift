/// Sendable value type; safe to use from any thread. How JSON text is laid out.
public enum JSONLayout: Sendable, Hashable {
    /// One line without white space.
    case compact
    /// One entry or item per line, indented by two spaces per level, with a space after each colon. Empty
    /// containers stay `{}` and `[]`.
    case pretty
}
