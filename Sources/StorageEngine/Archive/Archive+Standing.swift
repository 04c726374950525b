package struct EntryStanding: Sendable, Hashable {
    package var isExpired: Bool
    package var expires: Timestamp?
    package var holders: [AttachedProcess]
}

extension Archive {
    /// Expiry time and holders of the entry of `key`; `nil` if absent. Leaves no trace.
    package func standing(of key: String) throws(StorageError) -> EntryStanding? {
        let engine = try engine()
        var standing: EntryStanding?
        try withHashed(key) { (key) throws(StorageError) in
            try engine.withLine(of: key.bytes, tag: key.tag) { entry, line in
                let numbers =
                    line.isMemoryOnly
                    ? engine.memoryOnlyNumbers(of: key.bytes, tag: key.tag) : [entry.number]
                let holders = numbers.flatMap(engine.holders(of:))
                standing = EntryStanding(
                    isExpired: line.isMemoryOnly
                        ? !numbers.contains(where: engine.isPresent) : engine.isExpired(entry),
                    expires: line.expires,
                    holders: StatusReader(engine: engine).processes().filter { holders.contains($0.pid) })
            }
        }
        return standing
    }
}
