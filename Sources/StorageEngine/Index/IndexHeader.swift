import CPlatform

/// An index's header, read before the index is mapped or trusted. See `MappedIndex+Header.swift` for a mapped one.
struct IndexHeader: Equatable {
    private let bytes: [UInt8]

    init?(_ file: FileDescriptor) throws(StorageError) {
        bytes = try file.read(atMost: IndexLayout.processTableOffset)
        guard bytes.count == IndexLayout.processTableOffset else { return nil }
    }

    private func word32(_ offset: Int) -> UInt32 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }

    private func word64(_ offset: Int) -> UInt64 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    }

    private func location(_ offset: Int) -> Location { Location(raw: word64(offset)) }

    private func bytes(_ offset: Int) -> [UInt8] { Array(bytes[offset..<offset + 16]) }

    func isOf(_ identity: [UInt8]) -> Bool {
        word64(IndexLayout.magicOffset) == IndexLayout.magic
            && word32(IndexLayout.versionOffset) == IndexLayout.version
            && bytes(IndexLayout.identityOffset) == identity
            && word64(IndexLayout.saltCheckOffset) == ~word64(IndexLayout.saltOffset)
    }

    var isOfThisBoot: Bool {
        let boot = BootIdentity.current
        return boot.contains(where: { $0 != 0 }) && bytes(IndexLayout.bootOffset) == boot
    }

    func isOf(_ file: FileDescriptor, _ status: FileDescriptor.Status) -> Bool {
        word64(IndexLayout.deviceOffset) == status.number.device
            && word64(IndexLayout.inodeOffset) == status.number.inode
            // The inode number of a removed file is reused, perhaps by a copy of it.
            && word64(IndexLayout.birthOffset) == cp_birth_time(file.descriptor)
    }

    var state: IndexLayout.State? { IndexLayout.State(rawValue: word32(IndexLayout.stateOffset)) }

    var head: Location { location(IndexLayout.headOffset) }

    var syncedHead: Location { location(IndexLayout.syncedHeadOffset) }

    /// The clocks when the clean mark was set last; `nil`: unknown.
    var markedReading: Clock.Reading? {
        let wall = Int64(bitPattern: word64(IndexLayout.markedWallOffset))
        let boot = Int64(bitPattern: word64(IndexLayout.markedBootOffset))
        return boot == 0 ? nil : Clock.Reading(wall: wall, boot: boot)
    }

    var loss: LogLoss? {
        LogLoss(from: location(IndexLayout.lossFromOffset), to: location(IndexLayout.lossToOffset))
    }

    func fits(fileOf fileBytes: Int) -> Bool {
        let capacity = word32(IndexLayout.entryCapacityOffset)
        let buckets = word32(IndexLayout.bucketCountOffset)
        return Int(capacity) <= IndexLayout.chunks(inFileOf: fileBytes) * IndexLayout.chunkEntries
            && word32(IndexLayout.entryHighWaterOffset) <= capacity && buckets > 0
            && Int(buckets) <= IndexLayout.buckets(forCapacity: capacity)
    }

    /// Numbers that the log's segments may have, including skipped ones; empty if the header is contradictory.
    var olderSegments: Range<UInt32> {
        let oldest = word32(IndexLayout.oldestSegmentOffset)
        let newest = head.segment
        guard oldest > 0, oldest <= newest, newest - oldest < UInt32(SegmentLayout.slots) else {
            return 0..<0
        }
        // Excludes the log tail's segment: its existence is checked by reading the end of the log.
        return oldest..<newest
    }
}
