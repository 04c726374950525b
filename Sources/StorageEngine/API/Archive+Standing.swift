/// How an entry stands besides its metadata: for people who ask what became of it.
package struct EntryStanding: Sendable, Hashable {
    /// Nobody finds it any more, although nobody has removed it yet.
    package var isExpired: Bool
    /// Its deadline; `nil`: it has none.
    package var expires: Timestamp?
    /// The processes that live and hold its object in memory.
    package var holders: [AttachedProcess]
}

extension Archive {
    /// How the entry of `key` stands; `nil` if there is none. Leaves no trace.
    package func standing(of key: String) throws(StorageError) -> EntryStanding? {
        let engine = try engine()
        return try withBytes(of: key) { (key) throws(StorageError) in
            try ArchiveEngine.validate(key: key)
            return try engine.standing(of: key)
        }
    }
}

extension ArchiveEngine {
    fileprivate func standing(of key: UnsafeRawBufferPointer) throws(StorageError) -> EntryStanding? {
        guard let entry = try find(key, tag: UInt32(truncatingIfNeeded: hash(key))) else { return nil }
        defer { letGo(entry) }
        var numbers = [entry.number]
        if entry.slot.isMemoryOnly { numbers = memoryOnlyNumbers(of: key, tag: entry.slot.tag) }
        let holders = numbers.flatMap(holders(of:))
        return EntryStanding(
            isExpired: entry.slot.isMemoryOnly
                ? !numbers.contains(where: isPresent) : isExpired(entry),
            expires: deadline(of: entry.slot),
            holders: processes().filter { holders.contains($0.pid) })
    }
}
