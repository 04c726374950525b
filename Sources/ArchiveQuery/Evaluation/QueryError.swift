/// Why a query failed. Each description is one line with the fact and the action. Errors of the source are thrown unchanged.
public enum QueryError: Error, Sendable, Hashable {
    /// The state that must stay in memory, such as values of `count distinct` and `median`, exceeds
    /// ``QueryOptions/memoryLimit`` bytes.
    case tooMuchMemory(limit: Int)
    /// The query's temporary files would exceed ``QueryOptions/temporaryLimit``, in bytes.
    case tooMuchTemporary(limit: Int)
    /// No temporary file can be created. The reason includes advice.
    case noTemporaryFile(folder: String, reason: String)
    /// A temporary file can't be written or read. The reason includes advice.
    case temporaryFileFailed(reason: String)
    /// The pattern isn't a regular expression.
    case invalidPattern(String)
    /// ``QueryOptions/progress`` returned false.
    case cancelled
}

extension QueryError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooMuchMemory(let limit):
            "the query needs more than its limit of \(limit) bytes of memory; raise the limit, or find fewer entries"
        case .tooMuchTemporary(let limit):
            "the query needs more than its limit of \(limit) bytes of temporary files; raise the limit, find fewer entries, "
                + "select fewer properties, or put a limit after the sort"
        case .noTemporaryFile(let folder, let reason):
            "cannot create a temporary file for the query in \(folder): \(reason)"
        case .temporaryFileFailed(let reason): "the query's temporary file failed: \(reason)"
        case .invalidPattern(let pattern): Self.words(invalidPattern: pattern)
        case .cancelled: "the query was cancelled"
        }
    }

    private static func words(invalidPattern pattern: String) -> String {
        let problem = TextPattern.problem(of: pattern).map { ": \($0)" } ?? ""
        return "\(QueryText.quoted(pattern)) is not a regular expression\(problem)"
    }

    package var isWrongQuery: Bool { if case .invalidPattern = self { true } else { false } }
}
