import StorageEngine

/// Why a query could not be carried out. Each description is one line that says what and what to do about it. What the
/// source of the entries throws comes through as it is.
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

/// What a person should know of a result; safe from any thread.
final class QueryWarnings: Sendable {
    private let lines = Guarded<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}
