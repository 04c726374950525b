/// How a query is carried out.
public struct QueryExplanation: Sendable, Hashable {
    /// What the encoded values are asked first, in the language of `vellum query`; `nil`: every object is made.
    public var encoded: String?
    /// Properties whose conditions, before the first limit, only objects can be asked about: `\User.initial`.
    public var ofObjects: [String]
    /// Why no encoded value is asked anything; `nil` if one is, or if there are no conditions.
    public var reason: String?
}

extension QueryExplanation: CustomStringConvertible {
    /// A line for each part.
    public var description: String {
        var lines = [encoded.map { "encoded values are asked: \($0)" } ?? "every object is made"]
        if !ofObjects.isEmpty {
            lines.append("only objects can be asked about " + ofObjects.joined(separator: ", "))
        }
        if let reason { lines.append(reason) }
        return lines.joined(separator: "\n")
    }
}

extension QueryBuilder {
    /// How the query is carried out. `nil` if the archive can't be asked, which is logged.
    public func explain<Archive>() -> QueryExplanation? where Queriable == ArchiveManager<Archive> {
        archives.attempt("explain a query", else: nil) { try $0.explanation(of: queries) }
    }
}
