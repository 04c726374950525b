extension PapyrusStore {
    /// Why a query returned no object.
    public enum QueryError: Error {
        /// There is no object with that identifier.
        case notFound
        /// The stored value can't be decoded as the type; `details` says what is missing or different. The value
        /// stays. ``PapyrusStore/register(migration:)`` converts old objects into new ones.
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

    static let damagedKey = StoredProblem(
        description:
            "the store is damaged, and nobody can tell which object it was; `vellum check --repair` says where"
    )
}

/// What can't be read of many, for one line about all of it.
struct Misread {
    private(set) var first: (key: String, error: any Error)?
    private var count = 0

    mutating func note(_ key: String, _ error: any Error) {
        if first == nil { first = (key, error) }
        count += 1
    }

    /// Entries of the store that have lost their keys to damage, and may have been of any type.
    mutating func note(keyless count: Int) {
        guard count > 0 else { return }
        if first == nil { first = ("an entry without a key", StoredProblem.damagedKey) }
        self.count += count
    }

    /// `nil`: all could be read. `fate`: what becomes of them.
    func problem(_ fate: String) -> StoredProblem? {
        first.map { first in
            let objects = count == 1 ? first.key : "\(count) objects, among them \(first.key),"
            return StoredProblem(description: "\(objects) \(fate): \(first.error)")
        }
    }
}
