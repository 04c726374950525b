/// Why a query returned no object: `PapyrusStore.QueryError`.
public enum PapyrusQueryError: Error {
    /// There is no object with that identifier.
    case notFound
    /// The stored value, which stays, can't be decoded as the type; `details` names the difference. A migration
    /// (`PapyrusStore.register(migration:)`) converts old objects into new ones.
    case invalidSchema(details: any Error)
}

extension PapyrusQueryError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notFound: "object not found"
        case .invalidSchema(let details):
            "the stored value can't be read as this type; register a migration, or delete it: \(details)"
        }
    }
}

/// Why a stored value can't be used, in one line.
struct StoredProblem: Error, CustomStringConvertible {
    let description: String

    static let damagedKey = StoredProblem(
        description:
            "a key is damaged, so its object is unknown; `vellum check --repair` reports where"
    )
}

/// Counts objects that can't be read, to report them in one line.
struct Misread {
    private(set) var first: (key: String, error: any Error)?
    private var count = 0

    mutating func add(_ key: String, _ error: any Error) {
        if first == nil { first = (key, error) }
        count += 1
    }

    /// Adds entries whose keys are damaged. They may be of any type.
    mutating func add(keyless count: Int) {
        guard count > 0 else { return }
        if first == nil { first = ("an entry with a damaged key", StoredProblem.damagedKey) }
        self.count += count
    }

    /// The report; `nil` if all objects could be read. `outcome` describes the result for the others.
    func problem(_ outcome: String) -> StoredProblem? {
        first.map { first in
            let objects = count == 1 ? first.key : "\(count) objects, among them \(first.key),"
            return StoredProblem(description: "\(objects) \(outcome): \(first.error)")
        }
    }
}
