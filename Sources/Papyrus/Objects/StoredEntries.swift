import StorageEngine

struct StoredEntry {
    var key: String
    var value: [UInt8]
    var created: Timestamp
    /// The sequence number of the change that stored the entry.
    var sequence: UInt64
}

protocol EntrySource {
    func find(_ key: String) throws -> StoredEntry?
}

struct SnapshotEntries: EntrySource {
    let snapshot: ArchiveSnapshot

    func find(_ key: String) throws -> StoredEntry? { try snapshot.number(of: key).map { try entry(at: $0) } }

    /// The type's objects, the oldest first. Damaged ones are added to `misread`.
    func entries(of type: StoredType, _ misread: inout Misread) throws -> [StoredEntry] {
        try numbers(of: type, &misread).compactMap { number in
            do {
                return try entry(at: number)
            } catch let error as StorageError {
                guard case .corrupted = error else { throw error }
                misread.add(try snapshot.intactKey(at: number), error)
                return nil
            }
        }
    }

    /// The keys of the type's objects, the oldest first. Entries with damaged keys are added to `misread`.
    func keys(of type: StoredType, _ misread: inout Misread) throws -> [String] {
        try numbers(of: type, &misread).map { try snapshot.intactKey(at: $0) }
    }

    /// Like `keys`, with the version of each; `nil` for a damaged value.
    func versions(of type: StoredType, _ misread: inout Misread) throws -> [(key: String, sequence: UInt64?)]
    {
        try numbers(of: type, &misread).map { number in
            do {
                return (try snapshot.intactKey(at: number), try snapshot.metadata(at: number).sequence)
            } catch let error as StorageError {
                guard case .corrupted = error else { throw error }
                return (try snapshot.intactKey(at: number), nil)
            }
        }
    }

    private func numbers(of type: StoredType, _ misread: inout Misread) -> [Int] {
        let (numbers, unreadable) = snapshot.numbersByCreation(ofPrefix: type.prefix)
        misread.add(keyless: unreadable)
        return numbers
    }

    func entry(at number: Int) throws -> StoredEntry {
        let (key, entry) = try snapshot.entry(at: number)
        return StoredEntry(key: key, value: entry.value, created: entry.created, sequence: entry.sequence)
    }
}

/// The current entries, for looking up a few keys. A check afterwards costs less than a snapshot.
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

    /// Whether all entries that were found existed at one moment before this call.
    func isOfOneMoment() throws -> Bool {
        guard seen.count > 1 else { return true }
        return try seen.allSatisfy { try archive.metadata($0.key)?.sequence == $0.sequence }
    }
}
