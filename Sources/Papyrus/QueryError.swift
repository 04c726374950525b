extension PapyrusStore {
    /// Why a query has no object to give.
    public enum QueryError: Error {
        /// There is none of that identifier.
        case notFound
        /// What is stored is no object of the type, or none any more: `details` says what is missing or different. It stays
        /// stored. ``PapyrusStore/register(migration:)`` makes old objects into new ones.
        case invalidSchema(details: any Error)
    }
}

extension PapyrusStore.QueryError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notFound: "there is no such object"
        case .invalidSchema(let details):
            "what is stored is no object of the type; register a migration, or delete it: \(details)"
        }
    }
}

/// Why nothing can be made of what is stored. One line for a person.
struct StoredProblem: Error, CustomStringConvertible {
    let description: String
}
