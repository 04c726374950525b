/// An archive's totals and counters at one moment.
public struct ArchiveStatus: Sendable, Hashable {
    public var name: String
    public var configuration: ArchiveConfiguration
    public var entries: Int
    /// Sum of the sizes of all values on disk, in bytes; at most the disk limit.
    public var diskBytes: UInt64
    /// Sum of what the memory tiers of the attached processes hold, in bytes.
    public var memoryBytes: UInt64
    /// Bytes that the archive's files take on disk.
    public var footprint: UInt64
    /// What that may be beyond the archive's own share, for what can still be undone, and until it is given back
    /// afterwards: bytes.
    public var undoBytes: UInt64
    public var undoBudget: UndoBudget
    /// How many places of the log held nothing valid when the index was made from it, and one more if the log is known to have
    /// been longer than it is: entries may be missing. ``Archive/check(progress:)`` tells where. 0 after a repair.
    public var damagedPlaces: Int
    public var hits: UInt64
    public var misses: UInt64
    public var records: UInt64
    public var deletes: UInt64
    public var evictions: UInt64
    public var expirations: UInt64
    /// Values refused because they are larger than the limit, or because they could not be encoded.
    public var rejections: UInt64
    /// How the value that was used last is encoded, as a hint at what the archive holds; `nil`: there is none.
    public var latestEncoding: ValueEncoding?
    /// Processes that have the archive open for writing now.
    public var attachedProcesses: Int
}

extension ArchiveStatus {
    /// Of an archive in which there is nothing, and that nothing is known of.
    package init(name: String, configuration: ArchiveConfiguration) {
        self.init(
            name: name, configuration: configuration, entries: 0, diskBytes: 0, memoryBytes: 0, footprint: 0,
            undoBytes: 0,
            undoBudget: UndoBudget(values: .max, room: .max, valuesLeft: .max, roomLeft: .max),
            damagedPlaces: 0, hits: 0, misses: 0, records: 0, deletes: 0, evictions: 0, expirations: 0,
            rejections: 0, latestEncoding: nil, attachedProcesses: 0)
    }

    /// What ``damagedPlaces`` means, for a person; `nil`: nothing.
    public var problem: String? { ArchiveStatus.problem(damagedPlaces: damagedPlaces) }

    static func problem(damagedPlaces count: Int) -> String? {
        guard count > 0 else { return nil }
        let places = count == 1 ? "1 place" : "\(count) places"
        return
            "its log is damaged in \(places), and entries may be missing; a check tells where, a repair settles it"
    }
}

/// A process that has an archive open for writing.
public struct AttachedProcess: Sendable, Hashable {
    public var pid: Int32
    public var name: String
    public var attached: Timestamp
    public var isAlive: Bool
    public var hits: UInt64
    public var misses: UInt64
    public var memoryBytes: UInt64
    public var memoryLimit: UInt64
}

extension AttachedProcess {
    /// One that lives and has done nothing yet.
    package init(pid: Int32, name: String, attached: Timestamp) {
        self.init(
            pid: pid, name: name, attached: attached, isAlive: true, hits: 0, misses: 0, memoryBytes: 0,
            memoryLimit: 0)
    }
}

/// What a deletion of several entries removed.
public struct Removal: Sendable, Hashable {
    public var entries: Int
    public var bytes: UInt64

    public init(entries: Int, bytes: UInt64) {
        self.entries = entries
        self.bytes = bytes
    }
}

/// What became of a deletion that was planned for one version of an entry.
public enum ConditionalDelete: Sendable, Hashable {
    case deleted
    /// There is no entry of that key any more.
    case absent
    /// The entry was stored anew since; it was left alone.
    case changed
}

/// What a check of every frame, and of the index against the log, found.
public struct CheckReport: Sendable, Hashable {
    /// No damage and no disagreement.
    public var clean: Bool { damaged == 0 && problems.isEmpty }
    /// Entries that the log holds.
    public var entries: Int
    /// Sum of their values' sizes in bytes.
    public var valueBytes: UInt64
    /// Damaged places: stretches of a segment that hold no valid frame where one should be, and entries
    /// whose index and log disagree.
    public var damaged: Int
    /// Entries that a rebuild of the index brought back past damage.
    public var salvaged: Int
    /// One line a problem: what and where. At most ``maximumProblems``; `damaged` counts all.
    public var problems: [String]

    public static let maximumProblems = 100
}
