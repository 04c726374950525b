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
        let tag = UInt32(truncatingIfNeeded: hash(key))
        var standing: EntryStanding?
        try withLine(of: key, tag: tag) { entry, line in
            let numbers = line.isMemoryOnly ? memoryOnlyNumbers(of: key, tag: tag) : [entry.number]
            let holders = numbers.flatMap(holders(of:))
            standing = EntryStanding(
                isExpired: line.isMemoryOnly ? !numbers.contains(where: isPresent) : isExpired(entry),
                expires: line.expires, holders: processes().filter { holders.contains($0.pid) })
        }
        return standing
    }
}
