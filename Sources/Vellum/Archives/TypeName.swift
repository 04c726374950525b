import Foundation

/// A type's name with its module and the types around it, as `Geo.City`. Swift writes the place of a private or local type
/// as `(unknown context at $5f3e)`, which is another one in each process; that is left out.
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
