/// What a repair of an archive found and did.
public struct RepairReport: Sendable, Hashable {
    /// Entries that the archive has now.
    public var entries: Int
    /// Sum of their values' sizes in bytes.
    public var valueBytes: UInt64
    /// Damaged places: stretches of a segment, headers, whole files, the descriptor.
    public var damaged: Int
    /// Entries that lie behind a damaged place of their segment, or in one whose header was damaged.
    public var salvaged: Int
    /// One line a place: file, bytes, and what was done. At most ``CheckReport/maximumProblems``; `damaged` counts
    /// all.
    public var problems: [String]
}

extension Store {
    /// Makes a damaged archive whole: builds its index anew from all frames that are intact, and puts the log in
    /// order, so that ``Archive/check()`` finds nothing any more.
    ///
    /// Nothing is thrown away: bytes that belong to no intact entry are kept in files of the archive's folder whose
    /// names end in `.damaged`. An archive whose descriptor was lost becomes what its frames tell: a log if they are
    /// messages, a cache if entries were evicted for a limit, each with a disk limit that evicts nothing of what is
    /// there, else a collection. What is known to be lost of the log is reported, and no longer by a check. An intact archive loses the recency and the counters since each entry's last write.
    /// Killed half way, it can be run again. Costs reading the archive's files twice.
    ///
    /// - Throws: `busy` while anyone, this process included, has the archive open for writing; `readOnly`,
    ///   `noSuchArchive`, `unsupportedVersion` (a newer program's file; nothing is changed), `noSpace`, `system`.
    public func repair(archiveNamed name: String) throws(StorageError) -> RepairReport {
        guard mode == .readWrite else { throw .readOnly(operation: "repair archive \"\(name)\"") }
        try ArchiveName.validate(name)
        guard try hasArchive(name) else { throw .noSuchArchive(name: name, store: path) }
        let inside = try folder.folder(named: ArchiveName.folder(for: name))
        return try ArchiveRepair.run(on: inside, name: name, options: options)
    }
}
