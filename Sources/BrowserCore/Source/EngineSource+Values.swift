import StorageEngine

extension Moment {
    init(_ timestamp: Timestamp) { self.init(microseconds: timestamp.microseconds) }

    /// The wall clock.
    public static func now() -> Moment { Moment(.now()) }
}

extension Entry {
    init(_ metadata: EntryMetadata) {
        let notation: ValueNotation =
            switch metadata.encoding {
            case .unknown: .unknown
            case .cbor: .cbor
            case .json: .json
            case .propertyList: .propertyList
            case .text: .text
            }
        let tier: EntryTier =
            switch metadata.tier {
            case .disk: .disk
            case .memory: .memory
            case .both: .both
            }
        self.init(
            key: metadata.key, size: metadata.valueBytes, notation: notation,
            created: Moment(metadata.created), accessed: Moment(metadata.accessed),
            expires: metadata.expires.map(Moment.init), hits: metadata.hits, owner: metadata.owner,
            tier: tier,
            sequence: metadata.sequence)
    }
}

extension ArchiveSummary {
    init(_ status: ArchiveStatus) {
        let kind: ArchiveKind =
            switch status.configuration.kind {
            case .cache: .cache
            case .collection: .collection
            case .log: .log
            }
        self.init(name: status.name, kind: kind, typeName: status.configuration.typeName)
        entries = status.entries
        diskBytes = status.diskBytes
        diskLimit = status.configuration.diskLimit
        memoryBytes = status.memoryBytes
        memoryLimit = status.configuration.memoryLimit
        footprint = status.footprint
        counters.hits = status.hits
        counters.misses = status.misses
        counters.records = status.records
        counters.deletes = status.deletes
        counters.evictions = status.evictions
        counters.expirations = status.expirations
        counters.rejections = status.rejections
    }
}

extension ProcessSummary {
    /// One process' figures of one archive, with those of its other archives.
    init(_ process: AttachedProcess, adding known: ProcessSummary?) {
        self.init(
            pid: process.pid, name: process.name, isAlive: process.isAlive,
            hits: process.hits &+ (known?.hits ?? 0), misses: process.misses &+ (known?.misses ?? 0),
            memoryBytes: process.memoryBytes &+ (known?.memoryBytes ?? 0))
    }
}
