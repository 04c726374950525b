import struct StorageEngine.UndoBudget

/// A store that was found in a folder. A value; safe to share between threads.
public struct StoreSummary: Sendable, Hashable {
    public var name: String
    public var path: String
    public var archives: Int
    public var entries: Int
    /// Sum of the archives' value bytes.
    public var diskBytes: UInt64
    /// Why nothing more is known about it; one line.
    public var problem: String?

    public init(
        name: String, path: String, archives: Int = 0, entries: Int = 0, diskBytes: UInt64 = 0,
        problem: String? = nil
    ) {
        self.name = name
        self.path = path
        self.archives = archives
        self.entries = entries
        self.diskBytes = diskBytes
        self.problem = problem
    }
}

/// The kinds of archives.
public enum ArchiveKind: String, Sendable, Hashable {
    case cache, collection, log
}

/// An archive's figures at one moment. A value; safe to share between threads. Sizes are bytes.
public struct ArchiveSummary: Sendable, Hashable {
    public var name: String
    public var kind: ArchiveKind
    public var typeName: String
    /// How the value that was used last says that it is encoded.
    public var notation = ValueNotation.unknown
    public var entries = 0
    public var diskBytes: UInt64 = 0
    public var diskLimit: UInt64?
    public var memoryBytes: UInt64 = 0
    public var memoryLimit: UInt64?
    /// What the archive's files take on disk.
    public var footprint: UInt64 = 0
    /// What that includes for what can still be undone, and how much more may be removed so that it can be undone for
    /// ten minutes, whatever is written.
    public var undoBytes: UInt64 = 0
    public var undoBudget: UndoBudget?
    /// How many places of the log are damaged, so that entries may be missing.
    public var damagedPlaces = 0
    public var counters = Counters()
    /// The number of the event that comes next: it grows with each change.
    public var nextEvent: UInt64 = 0
    /// The processes that have it open for writing.
    public var processes: [ProcessSummary] = []
    /// Why the archive could not be read; one line. The figures are then of no meaning.
    public var problem: String?

    public init(name: String, kind: ArchiveKind = .cache, typeName: String = "") {
        self.name = name
        self.kind = kind
        self.typeName = typeName
    }

    /// How full the disk tier is, 0 to 1; nil without a limit.
    public var diskShare: Double? { ArchiveSummary.share(diskBytes, of: diskLimit) }
    public var memoryShare: Double? { ArchiveSummary.share(memoryBytes, of: memoryLimit) }

    /// The most that the files may take: 1.25 × (limit + 128 bytes × entries + what can be undone) + 1 MiB. Without a
    /// limit its place is taken by what is stored.
    public var footprintBound: UInt64 {
        let values = Double(max(diskLimit ?? 0, diskBytes))
        let parts = values + 128 * Double(max(0, entries)) + Double(undoBytes)
        return UInt64(min(1.25 * parts + 1_048_576, 1e18))
    }

    private static func share(_ bytes: UInt64, of limit: UInt64?) -> Double? {
        guard let limit, limit > 0 else { return nil }
        return Double(bytes) / Double(limit)
    }
}

/// What an archive has counted since it was made. A value; safe to share between threads.
public struct Counters: Sendable, Hashable {
    public var hits: UInt64 = 0
    public var misses: UInt64 = 0
    public var records: UInt64 = 0
    public var deletes: UInt64 = 0
    public var evictions: UInt64 = 0
    public var expirations: UInt64 = 0
    public var rejections: UInt64 = 0

    public init() {}

    /// Accesses, records and deletes. Wraps like the counters themselves.
    public var operations: UInt64 { hits &+ misses &+ records &+ deletes }

    /// Hits among all accesses, 0 to 1; nil before the first.
    public var hitRatio: Double? {
        let accesses = hits &+ misses
        return accesses == 0 ? nil : Double(hits) / Double(accesses)
    }
}

/// A process that has an archive, or several of a store, open for writing. A value; safe to share between threads.
public struct ProcessSummary: Sendable, Hashable {
    public var pid: Int32
    public var name: String
    public var isAlive: Bool
    /// Since when.
    public var attached: Moment
    public var hits: UInt64
    public var misses: UInt64
    public var memoryBytes: UInt64
    /// 0: none is known.
    public var memoryLimit: UInt64

    public init(
        pid: Int32, name: String, isAlive: Bool = true, attached: Moment = Moment(microseconds: 0),
        hits: UInt64 = 0, misses: UInt64 = 0, memoryBytes: UInt64 = 0, memoryLimit: UInt64 = 0
    ) {
        self.pid = pid
        self.name = name
        self.isAlive = isAlive
        self.attached = attached
        self.hits = hits
        self.misses = misses
        self.memoryBytes = memoryBytes
        self.memoryLimit = memoryLimit
    }

    /// Hits among its accesses, 0 to 1; nil before the first.
    public var hitRatio: Double? {
        let accesses = hits &+ misses
        return accesses == 0 ? nil : Double(hits) / Double(accesses)
    }
}

/// A store's archives and the processes attached to it at one moment. A value; safe to share between threads.
public struct StoreFigures: Sendable, Hashable {
    public var archives: [ArchiveSummary]
    public var processes: [ProcessSummary]
    /// Accesses that the store has booked to this very process: what looking would add to if it left a trace.
    public var ownAccesses: UInt64
    /// This very process, which may have written for a person; 0 when it isn't known.
    public var ownPid: Int32 = 0

    public init(archives: [ArchiveSummary], processes: [ProcessSummary] = [], ownAccesses: UInt64 = 0) {
        self.archives = archives
        self.processes = processes
        self.ownAccesses = ownAccesses
    }
}
