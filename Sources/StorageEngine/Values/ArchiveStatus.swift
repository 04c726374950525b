/// An archive's totals and counters at one moment.
public struct ArchiveStatus: Sendable, Hashable {
    /// Name of the archive.
    public var name: String
    /// Kind, limits, type and durability.
    public var configuration: ArchiveConfiguration
    /// Entries that can be found, or messages of a log.
    public var entries: Int
    /// Sum of the sizes of all values on disk, in bytes; at most the disk limit.
    public var diskBytes: UInt64
    /// Sum of the memory tiers' values of the attached processes, in bytes.
    public var memoryBytes: UInt64
    /// Disk usage of the archive's files, in bytes.
    public var footprint: UInt64
    /// Bytes of ``footprint`` for samples of recent requests.
    package var requestBytes: UInt64 = 0
    /// Extra bytes that the files may use for entries that can be restored by undo, until the space is reclaimed.
    public var undoBytes: UInt64
    /// About the number of bytes that a compaction frees. It keeps entries that can be restored by undo.
    package var reclaimableBytes: UInt64 = 0
    /// Expired entries that aren't removed yet. They count neither as ``entries`` nor as ``expirations``.
    package var expiredEntries = 0
    /// The size of a removal that can be undone for a full ten minutes.
    public var undoBudget: UndoBudget
    /// Number of places of the log without a valid frame, and of gaps between its segments, when the index was rebuilt from
    /// it, plus one if the log is known to have been longer: entries may be missing, or have an older value.
    /// ``Archive/check()`` reports where. 0 after a repair.
    public var damagedPlaces: Int
    /// Accesses that found an entry, of all processes, since the index was built.
    public var hits: UInt64
    /// Accesses that found no entry.
    public var misses: UInt64
    /// Values that were stored.
    public var records: UInt64
    /// Entries that were deleted.
    public var deletes: UInt64
    /// Entries that were removed to keep the limit.
    public var evictions: UInt64
    /// Entries that were removed because they had expired.
    public var expirations: UInt64
    /// Values refused because they were larger than the limit or could not be encoded.
    public var rejections: UInt64
    /// Encoding of the most recently accessed value, as a hint at the archive's content; `nil` if it is empty.
    public var latestEncoding: ValueEncoding?
    /// Processes that have the archive open for writing.
    public var attachedProcesses: Int
}

extension ArchiveStatus {
    package init(name: String, configuration: ArchiveConfiguration) {
        self.init(
            name: name, configuration: configuration, entries: 0, diskBytes: 0, memoryBytes: 0, footprint: 0,
            undoBytes: 0, undoBudget: .init(values: .max, space: .max, valuesLeft: .max, spaceLeft: .max),
            damagedPlaces: 0, hits: 0, misses: 0, records: 0, deletes: 0, evictions: 0, expirations: 0,
            rejections: 0, latestEncoding: nil, attachedProcesses: 0)
    }

    /// Meaning of ``damagedPlaces`` in words; `nil` if there is no damage.
    public var problem: String? { ArchiveStatus.problem(damagedPlaces: damagedPlaces) }

    static func problem(damagedPlaces count: Int) -> String? {
        guard count > 0 else { return nil }
        let places = count == 1 ? "1 place" : "\(count) places"
        return
            "its log is damaged in \(places), and entries may be missing or outdated; a check shows where, a repair fixes it"
    }
}

/// A process that has an archive open for writing.
public struct AttachedProcess: Sendable, Hashable {
    /// Process number, in the namespace of that process.
    public var pid: Int32
    /// Name that the process gave when it opened the store.
    public var name: String
    /// When the process opened the archive.
    public var attached: Timestamp
    /// Whether the process is running. A killed process is listed until its slot is cleared.
    public var isAlive: Bool
    /// Accesses of this process that found an entry.
    public var hits: UInt64
    /// Accesses of this process that found no entry.
    public var misses: UInt64
    /// Bytes of the values in the process's memory tier.
    public var memoryBytes: UInt64
    /// Most bytes that the process's memory tier may hold.
    public var memoryLimit: UInt64
}

extension AttachedProcess {
    package init(pid: Int32, name: String, attached: Timestamp) {
        self.init(
            pid: pid, name: name, attached: attached, isAlive: true, hits: 0, misses: 0, memoryBytes: 0,
            memoryLimit: 0)
    }
}

/// The result of deleting several entries.
public struct Removal: Sendable, Hashable {
    /// Number of entries removed.
    public var entries: Int
    /// Sum of the sizes of their values in bytes.
    public var bytes: UInt64

    /// A removal of this many entries, with values of this many bytes.
    public init(entries: Int, bytes: UInt64) {
        self.entries = entries
        self.bytes = bytes
    }

    static func += (sum: inout Removal, part: Removal) {
        sum.entries += part.entries
        sum.bytes += part.bytes
    }
}

/// The result of deleting an entry on the condition that it is unchanged.
public enum ConditionalDelete: Sendable, Hashable {
    /// The entry was deleted.
    case deleted
    /// No entry with that key exists any more.
    case absent
    /// The entry was stored again since it was seen, and was not deleted.
    case changed
}

/// The result of checking all frames, and the index against the log.
public struct CheckReport: Sendable, Hashable {
    /// Whether the check found no damage and no disagreement.
    public var clean: Bool { damaged == 0 && problems.isEmpty }
    /// Entries that the log holds.
    public var entries = 0
    /// Sum of their values' sizes in bytes.
    public var valueBytes: UInt64 = 0
    /// Damaged places: parts of a segment without an expected valid frame, and entries whose index and log disagree.
    public var damaged = 0
    /// Entries that a rebuild of the index recovered beyond a damaged place.
    public var salvaged = 0
    /// Entries that the log holds and the index doesn't list, such as values before a damaged record.
    package var unlisted = 0
    /// Number of ``unlisted`` entries that the index has tombstoned, although the log has no deletion of them.
    package var deleted = 0
    /// Intact entries that only the index lists, such as those whose undo is damaged in the log.
    package var unrecorded = 0
    /// One line for each problem: what and where. At most ``maximumProblems``; ``damaged`` counts all.
    public var problems: [String] = []
    /// One line for each segment that is older than the log's beginning, and one if the index's structure could not be checked
    /// because of constant changes.
    public var remarks: [String] = []

    /// Most lines in ``problems``, and in ``remarks``.
    public static let maximumProblems = 100

    mutating func add(_ problem: String) {
        damaged += 1
        if problems.count < CheckReport.maximumProblems { problems.append(problem) }
    }
}
