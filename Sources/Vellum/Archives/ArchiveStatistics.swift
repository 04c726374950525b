import StorageEngine

/// Counters and present content of an archive. Unless noted, counters cover all processes since the archive was
/// created; a system crash may lose the latest counts.
public struct ArchiveStatistics: Sendable, Hashable, Codable {
    /// Objects in the archive, including those that only a process's memory holds.
    public var objects: Int
    /// Objects in this process's memory.
    public var memoryObjects: Int
    /// Bytes of the encoded objects in this process's memory.
    public var memoryBytes: Int
    /// Bytes of the encoded objects on disk.
    public var diskBytes: Int
    /// Bytes that the archive's files take on disk.
    public var footprint: Int
    /// Look-ups that found an object, in either tier.
    public var hits: Int
    /// Look-ups that found it in this process's memory since it opened the archive.
    public var memoryHits: Int
    /// Look-ups that found none.
    public var misses: Int
    /// Objects that were stored, updates included.
    public var records: Int
    /// Objects that were deleted by a call or a user.
    public var deletes: Int
    /// Objects that were evicted to keep the disk limit. Evictions from memory don't count.
    public var evictions: Int
    /// Objects that have expired and been removed.
    public var expirations: Int
    /// Objects that were not stored, because they exceeded the limits or couldn't be encoded.
    public var rejections: Int
    /// Objects that this process could not encode.
    public var unencodable: Int
    /// Keys whose values this process couldn't decode.
    public var undecodable: Int
    /// Keys whose values have a newer version than this process supports.
    public var newer: Int
    /// Calls of this process that failed and could only log the error.
    public var failedCalls: Int
    /// Changes of this process that were retried because another changed their input first.
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

struct ArchiveFailures {
    var unencodable = 0
    var logged = 0
    var conflicts = 0
}

/// Bytes of encoded objects in both tiers.
public struct ArchiveSizes: Sendable, Hashable {
    /// In the memory of this process.
    public var memory: Int
    /// On disk.
    public var disk: Int
    /// Both together; `Int.max`: no limit.
    public var total: Int { memory.addingReportingOverflow(disk).overflow ? .max : memory + disk }
}
