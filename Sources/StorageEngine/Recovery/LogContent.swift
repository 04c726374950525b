/// The kind of archive that wrote a log, for a repair without a descriptor. Costs reading all segments.
struct LogContent {
    private var messages = 0
    private var entries = 0
    private var evictions = 0
    private var valueBytes: UInt64 = 0

    init(_ folder: FileDescriptor, identity: [UInt8]) throws(StorageError) {
        let log = try SegmentLog(folder: folder, identity: identity, writable: false)
        for number in try log.segmentNames().numbers {
            guard let pin = try log.pinIfPresent(number) else { continue }
            defer { log.unpin(pin) }
            _ = try log.scan(pin) { (item) throws(StorageError) in
                if case .frame(let frame, _) = item { count(frame) }
            }
        }
    }

    private mutating func count(_ frame: Frame) {
        // An `evict` frame for another reason than a limit has a note with that reason.
        if !frame.evictions.isEmpty, RemovalNote(of: frame)?.cause ?? .limit == .limit {
            evictions += 1
        }
        guard let kind = frame.kind, kind.storesEntry || kind == .message else { return }
        if kind == .message { messages += 1 } else { entries += 1 }
        valueBytes += UInt64(frame.valueBytes)
    }

    /// A configuration that evicts nothing: its disk limit is at least the sum of all values in the log.
    var configuration: ArchiveConfiguration {
        let kind: ArchiveKind = messages > entries ? .log : evictions > 0 ? .cache : .collection
        let usual = ArchiveConfiguration().diskLimit ?? 0
        let limit = min(max(valueBytes, usual), ArchiveConfiguration.maximumDiskLimit)
        return ArchiveConfiguration(
            kind: kind, diskLimit: kind == .collection ? nil : limit, memoryLimit: nil)
    }

    static func description(of configuration: ArchiveConfiguration) -> String {
        let limit = configuration.diskLimit ?? 0
        let known =
            "with a disk limit of \(limit) bytes, enough for all its values, and no memory limit; "
            + "set others with resize"
        switch configuration.kind {
        case .log: return "The archive is a log, because it has messages, \(known)"
        case .cache: return "The archive is a cache, because entries were evicted from it, \(known)"
        case .collection:
            return
                "The archive is now a collection, because nothing shows another kind: it has no disk limit and "
                + "evicts nothing; its memory limit was lost, set it with resize --memory"
        }
    }
}
