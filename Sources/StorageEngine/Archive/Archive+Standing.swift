package struct EntryStanding: Sendable, Hashable {
    package var isExpired: Bool
    package var expires: Timestamp?
    package var holders: [AttachedProcess]
}

extension Archive {
    /// Expiry time and holders of the entry of `key`; `nil` if absent. Leaves no trace.
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
