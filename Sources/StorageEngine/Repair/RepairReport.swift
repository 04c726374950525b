/// The result of repairing an archive.
public struct RepairReport: Sendable, Hashable {
    /// Entries that the archive now has.
    public var entries: Int
    /// Sum of their values' sizes in bytes.
    public var valueBytes: UInt64
    /// Damaged places: ranges of a segment, headers, whole files, the descriptor.
    public var damaged: Int
    /// Entries recovered after a damaged place of their segment, or from a segment with a damaged header.
    public var salvaged: Int
    /// One line for each place: file, bytes, repair. At most ``CheckReport/maximumProblems``; ``damaged`` counts all.
    public var problems: [String]
}

extension Store {
    /// Repairs a damaged archive: rebuilds its index from all intact frames and repairs the log, so that
    /// ``Archive/check()`` finds nothing.
    ///
    /// No byte is discarded: bytes that belong to no intact entry are kept in files of the archive's folder whose names
    /// end in `.damaged`. If the descriptor was lost, the frames determine the archive's kind: a log if they are
    /// messages, a cache if entries were evicted for a limit, otherwise a collection. Cache and log get a disk limit
    /// that holds all present values. In a cache, entries that a damaged part of the log had replaced or removed are
    /// removed. Known losses of the log are reported once, and no longer by a check. An intact archive loses recency and
    /// counters since each entry's last write. If it is killed, run it again. Reads the files twice.
    ///
    /// - Throws: `busy` while any process, including this one, has the archive open for writing; `readOnly`,
    ///   `noSuchArchive`, `unsupportedVersion` (a newer program's file; nothing is changed), `noSpace`, `system`.
    public func repair(archiveNamed name: String) throws(StorageError) -> RepairReport {
        try repair(archiveNamed: name) { _ in }
    }

    /// Like ``repair(archiveNamed:)``; `progress` gets the fraction of the files read, 0 to 1, now and then.
    package func repair(
        archiveNamed name: String, progress: (Double) -> Void
    ) throws(StorageError) -> RepairReport {
        guard mode == .readWrite else { throw .readOnly(operation: "repair archive \"\(name)\"") }
        try ArchiveName.validate(name)
        guard try hasArchive(name) else { throw .noSuchArchive(name: name, store: path) }
        let inside = try folder.folder(named: ArchiveName.folder(for: name))
        return try ArchiveRepair.run(on: inside, name: name, options: options, progress)
    }
}
