/// Sendable value type; safe to use from any thread. How JSON text is laid out.
public enum JSONLayout: Sendable, Hashable {
    /// No white space at all, on one line.
    case compact
    /// An entry or item a line, two spaces a level, a space after each colon; empty containers stay `{}` and `[]`.
    case pretty
}
