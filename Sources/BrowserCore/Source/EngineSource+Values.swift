import StorageEngine

extension Moment {
    init(_ timestamp: Timestamp) { self.init(microseconds: timestamp.microseconds) }

    /// The wall clock.
    public static func now() -> Moment { Moment(.now()) }
}

extension ValueNotation {
    package init(_ encoding: ValueEncoding) {
        self =
            switch encoding {
            case .unknown: .unknown
            case .cbor: .cbor
            case .json: .json
            case .propertyList: .propertyList
            case .text: .text
            }
    }
}

extension Entry {
    init(_ metadata: EntryMetadata) {
        let tier: EntryTier =
            switch metadata.tier {
            case .disk: .disk
            case .memory: .memory
            case .both: .both
            }
        self.init(
            key: metadata.key, size: metadata.valueBytes, notation: ValueNotation(metadata.encoding),
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
        notation = status.latestEncoding.map(ValueNotation.init) ?? .unknown
        entries = status.entries
        diskBytes = status.diskBytes
        diskLimit = status.configuration.diskLimit
        memoryBytes = status.memoryBytes
        memoryLimit = status.configuration.memoryLimit
        footprint = status.footprint
        undoBytes = status.undoBytes
        undoBudget = status.undoBudget
        damagedPlaces = status.damagedPlaces
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
    init(_ process: AttachedProcess) {
        self.init(
            pid: process.pid, name: process.name, isAlive: process.isAlive,
            attached: Moment(process.attached), hits: process.hits, misses: process.misses,
            memoryBytes: process.memoryBytes, memoryLimit: process.memoryLimit)
    }

    /// The same process' figures of another archive come to these.
    mutating func add(_ other: ProcessSummary) {
        attached = min(attached, other.attached)
        hits &+= other.hits
        misses &+= other.misses
        memoryBytes &+= other.memoryBytes
        memoryLimit &+= other.memoryLimit
    }
}

extension StoreEvent {
    init(_ event: ArchiveEvent, archive: String) {
        self.init(
            archive: archive, time: Moment(event.time), kind: event.kind, cause: event.cause, key: event.key,
            isWholeKey: event.keyIsComplete, bytes: event.bytes, pid: event.pid)
    }
}

extension LogLine {
    init(_ message: LogMessage) {
        self.init(message.bytes, sequence: message.sequence, time: Moment(message.time))
    }

    init(_ bytes: [UInt8], sequence: UInt64, time: Moment? = nil) {
        let content = ValueContent(
            Array(bytes.prefix(LogLine.limit)), total: bytes.count, notation: .unknown)
        self.init(
            sequence: sequence, time: time, size: bytes.count, text: bytes.isEmpty ? "" : content.text)
    }
}

extension Reversible {
    init(_ action: ReversibleAction, ownPid: Int32) {
        let kind: Kind =
            switch action.kind {
            case .delete: .delete
            case .expire: .expire
            case .deadline: .lifetime
            }
        self.init(
            id: action.id, kind: kind, time: Moment(action.time), entries: action.entries,
            bytes: action.bytes, pid: action.pid == 0 ? nil : action.pid, isOwn: action.pid == ownPid,
            end: Moment(action.end), bytesLeft: action.bytesLeft)
    }
}
