import Foundation

/// A type's name with its module and enclosing types, such as `Geo.City`. For a private or local type Swift adds
/// `(unknown context at $5f3e)`, which differs in each process; that is removed.
func readableName(of type: Any.Type) -> String {
    var parts: [Substring] = []
    var rest = String(reflecting: type)[...]
    while let start = rest.range(of: "(unknown context at ")?.lowerBound,
        let end = rest[start...].range(of: ").")?.upperBound
    {
        parts.append(rest[..<start])
        rest = rest[end...]
    }
    return (parts + [rest]).joined()
}
