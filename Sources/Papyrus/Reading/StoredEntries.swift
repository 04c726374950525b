import StorageEngine

/// An object as it is stored.
struct StoredEntry {
    var key: String
    var value: [UInt8]
    var created: Timestamp
    /// Number of the change that stored it.
    var sequence: UInt64
}

/// Where the entries of objects are looked up. For one thread.
protocol EntrySource {
    func find(_ key: String) throws -> StoredEntry?
}

/// The archive as it was at one moment.
struct SnapshotEntries: EntrySource {
    let snapshot: ArchiveSnapshot

    func find(_ key: String) throws -> StoredEntry? {
        try snapshot.number(of: key).map { try entry(at: $0) }
    }

    /// The type's objects, the oldest first; what is damaged is noted.
    func entries(of type: StoredType, _ misread: inout Misread) throws -> [StoredEntry] {
        try numbers(of: type, &misread).compactMap { number in
            do {
                return try entry(at: number)
            } catch let error as StorageError {
                guard case .corrupted = error else { throw error }
                misread.note(try snapshot.intactKey(at: number), error)
                return nil
            }
        }
    }

    /// The keys of the type's objects, the oldest first, also where their values are damaged; those that have lost their keys are
    /// noted.
    func keys(of type: StoredType, _ misread: inout Misread) throws -> [String] {
        try numbers(of: type, &misread).map { try snapshot.intactKey(at: $0) }
    }

    private func numbers(of type: StoredType, _ misread: inout Misread) -> [Int] {
        let (numbers, unreadable) = snapshot.numbersByCreation(ofPrefix: type.prefix)
        misread.note(keyless: unreadable)
        return numbers
    }

    func entry(at number: Int) throws -> StoredEntry {
        let (key, entry) = try snapshot.entry(at: number)
        return StoredEntry(key: key, value: entry.value, created: entry.created, sequence: entry.sequence)
    }
}

/// The archive as it is now, for look-ups of some keys: that all they found was there at one moment is found out behind them,
/// which costs less than a snapshot of everything.
final class LiveEntries: EntrySource {
    private let archive: Archive
    private var seen: [SeenEntry] = []

    init(_ archive: Archive) { self.archive = archive }

    func find(_ key: String) throws -> StoredEntry? {
        let entry = try archive.current(key)
        seen.append(SeenEntry(key: key, sequence: entry?.sequence))
        return entry.map {
            StoredEntry(key: key, value: $0.value, created: $0.created, sequence: $0.sequence)
        }
    }

    /// Whether all that was found is still there: then there was a moment, before this, at which all of it was.
    func isOfOneMoment() throws -> Bool {
        guard seen.count > 1 else { return true }
        return try seen.allSatisfy { try archive.metadata($0.key)?.sequence == $0.sequence }
    }
}
