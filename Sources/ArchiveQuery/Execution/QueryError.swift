/// Why a query could not be carried out. Each description is one line that says what and what to do about it. What the
/// source of the entries throws comes through as it is.
public enum QueryError: Error, Sendable, Hashable {
    /// What a query has to keep in memory, such as the values of `count distinct` and `median`, is more than it may.
    case tooMuchMemory(limit: Int)
    /// What it has no memory for is more than its temporary files may have.
    case tooMuchTemporary(limit: Int)
    /// No temporary file can be made.
    case noTemporaryFile(folder: String, reason: String)
    /// A temporary file can't be written or read.
    case temporaryFileFailed(reason: String)
    /// No regular expression.
    case invalidPattern(String)
    /// The progress closure asked for the end.
    case cancelled
}

extension QueryError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooMuchMemory(let limit):
            "the query has to keep more than the \(limit) bytes of memory that it may; allow it more, or find fewer entries"
        case .tooMuchTemporary(let limit):
            "the query has to keep more than the \(limit) bytes of temporary files that it may; allow it more, find fewer "
                + "entries, select fewer properties, or put a limit behind the sort"
        case .noTemporaryFile(let folder, let reason):
            "the query needs a temporary file, and none can be made in \(folder): \(reason); TMPDIR names another folder"
        case .temporaryFileFailed(let reason): "the query's temporary file failed: \(reason); TMPDIR names another folder for it"
        case .invalidPattern(let pattern): Self.words(invalidPattern: pattern)
        case .cancelled: "the query was cancelled"
        }
    }
}

extension QueryError {
    private static func words(invalidPattern pattern: String) -> String {
        let problem = PatternProblem(pattern).map { ": at \($0.position + 1), \($0.reason)" } ?? ""
        return "\(QueryText.quoted(pattern)) is no regular expression\(problem)"
    }

    /// Whether the query itself is wrong, and not the room that it has.
    package var isWrongQuery: Bool { if case .invalidPattern = self { true } else { false } }
}
