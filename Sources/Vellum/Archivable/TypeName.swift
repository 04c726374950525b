import Foundation

/// A type's full name, such as `Geo.City`, without the part of private types that differs in each process.
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
