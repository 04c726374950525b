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
            _ = try log.scan(pin, from: SegmentHeader.bytes) { (item) throws(StorageError) in
                if case .frame(let frame, _) = item { count(frame) }
            }
        }
    }

    private mutating func count(_ frame: Frame) {
        let evicts = !FrameExtension.evictions(of: frame).isEmpty
        switch frame.kind {
        case .message: messages += 1
        case .put, .move, .resident:
            entries += 1
            // A put names other entries only because of a limit.
            if evicts { evictions += 1 }
        case .evict:
            // Removals for another reason have a note with that reason.
            let cause = RemovalNote(of: frame)?.cause ?? .limit
            if evicts, cause == .limit { evictions += 1 }
            return
        default: return
        }
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
            "with a disk limit of \(limit) bytes, which all its values fit, and no memory limit; "
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
