/// How a query is carried out.
public struct QueryExplanation: Sendable, Hashable {
    /// The test of the encoded values, in the language of `vellum query`; `nil` if every object is decoded instead.
    public var encoded: String?
    /// Properties in conditions before the first limit that can only be tested on objects: `\User.initial`.
    public var ofObjects: [String]
    /// Why encoded values are not tested; `nil` if they are, or if there are no conditions.
    public var reason: String?
}

extension QueryExplanation: CustomStringConvertible {
    /// A line for each part.
    public var description: String {
        var lines = [encoded.map { "tests encoded values: \($0)" } ?? "decodes every object"]
        if !ofObjects.isEmpty { lines.append("decodes objects to test " + ofObjects.joined(separator: ", ")) }
        if let reason { lines.append(reason) }
        return lines.joined(separator: "\n")
    }
}
