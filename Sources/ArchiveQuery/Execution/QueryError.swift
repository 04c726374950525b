/// Why a query failed. Each description is one line that says what happened and what to do. Errors of the entries'
/// source are thrown unchanged.
public enum QueryError: Error, Sendable, Hashable {
    /// The rows that sorts, groupings and the like must keep exceed ``QueryOptions/memoryLimit``, in bytes.
    case tooMuchMemory(limit: Int)
    /// The pattern isn't a regular expression.
    case invalidPattern(String)
    /// ``QueryOptions/progress`` returned false.
    case cancelled
}

extension QueryError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooMuchMemory(let limit):
            "the query has to keep more than \(limit) bytes of rows; find fewer rows, select fewer properties, or put "
                + "a limit behind the sort"
        case .invalidPattern(let pattern): "\(QueryText.quoted(pattern)) is not a regular expression"
        case .cancelled: "the query was cancelled"
        }
    }
}
