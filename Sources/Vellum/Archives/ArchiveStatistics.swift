import StorageEngine

/// What happened in an archive, and what it holds. Counters are of all processes since the archive was made unless said
/// otherwise; those of the last moments may be lost when the system crashes.
public struct ArchiveStatistics: Sendable, Hashable {
    /// Objects in the store, those that only the memory of a process holds included.
    public var objects: Int
    /// Objects in this process' memory.
    public var memoryObjects: Int
    /// Bytes of the encoded objects in this process' memory.
    public var memoryBytes: Int
    /// Bytes of the encoded objects on disk.
    public var diskBytes: Int
    /// Bytes that the archive's files take on disk.
    public var footprint: Int
    /// Look-ups that found an object, in either tier.
    public var hits: Int
    /// Those of them that found it in this process' memory, since it opened the archive.
    public var memoryHits: Int
    /// Look-ups that found none.
    public var misses: Int
    /// Objects that were stored, updates included.
    public var records: Int
    /// Objects that were deleted because somebody asked for it.
    public var deletes: Int
    /// Objects that the disk limit left no room for. That memory let go of one is not counted.
    public var evictions: Int
    /// Objects whose lifetime was over, and that were removed since.
    public var expirations: Int
    /// Objects that were not stored: larger than the limit, or not encodable.
    public var rejections: Int
    /// Objects that this process could not encode.
    public var unencodable: Int
    /// Keys under which this process found a value that it could not decode.
    public var undecodable: Int
    /// Keys under which this process found a value of a version that it doesn't know yet.
    public var newer: Int
    /// Calls of this process that could not do what they were asked, and could only log it.
    public var failedCalls: Int
    /// Changes of this process that were made anew since somebody had changed first what they depended on.
    public var conflicts: Int

    init(
        status: ArchiveStatus, memory: (objects: Int, hits: UInt64), memoryBytes: Int,
        failures: ArchiveFailures, undecodable: Int, newer: Int
    ) {
        objects = status.entries
        memoryObjects = memory.objects
        self.memoryBytes = memoryBytes
        diskBytes = Int(clamping: status.diskBytes)
        footprint = Int(clamping: status.footprint)
        hits = Int(clamping: status.hits)
        memoryHits = Int(clamping: memory.hits)
        misses = Int(clamping: status.misses)
        records = Int(clamping: status.records)
        deletes = Int(clamping: status.deletes)
        evictions = Int(clamping: status.evictions)
        expirations = Int(clamping: status.expirations)
        rejections = Int(clamping: status.rejections)
        unencodable = failures.unencodable
        self.undecodable = undecodable
        self.newer = newer
        failedCalls = failures.logged
        conflicts = failures.conflicts
    }
}

/// What went wrong in this process.
struct ArchiveFailures {
    var unencodable = 0
    var logged = 0
    var conflicts = 0
}
