import CPlatform

/// An index's header as it is in its file, read before anything of it is mapped or believed. The fields of one that is
/// mapped: `MappedIndex+Header.swift`.
struct IndexHeader: Equatable {
    private let bytes: [UInt8]

    /// `nil`: the file has no whole header.
    init?(_ file: OpenFile) throws(StorageError) {
        bytes = try file.read(atMost: IndexLayout.processTableOffset)
        guard bytes.count == IndexLayout.processTableOffset else { return nil }
    }

    private func word32(_ offset: Int) -> UInt32 {
        var reader = ByteReader(Array(bytes[offset..<offset + 4]))
        return reader.uint32()
    }

    private func word64(_ offset: Int) -> UInt64 {
        var reader = ByteReader(Array(bytes[offset..<offset + 8]))
        return reader.uint64()
    }

    private func location(_ offset: Int) -> Location { Location(raw: word64(offset)) }

    private func bytes(_ offset: Int) -> [UInt8] { Array(bytes[offset..<offset + 16]) }

    // MARK: Whose it is

    /// Whether it is an index of this archive, in the form that this program writes.
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

    /// Whether the file is the one that it says it is, and no copy.
    func isOf(_ file: OpenFile, _ status: OpenFile.Status) -> Bool {
        word64(IndexLayout.deviceOffset) == status.number.device
            && word64(IndexLayout.inodeOffset) == status.number.inode
            // The number of a removed file is used again, perhaps by its own copy.
            && word64(IndexLayout.birthOffset) == cp_birth_time(file.descriptor)
    }

    // MARK: What it says

    /// `nil`: damaged.
    var state: IndexLayout.State? { IndexLayout.State(rawValue: word32(IndexLayout.stateOffset)) }

    var head: Location { location(IndexLayout.headOffset) }

    var syncedHead: Location { location(IndexLayout.syncedHeadOffset) }

    var loss: LogLoss? {
        LogLoss(from: location(IndexLayout.lossFromOffset), to: location(IndexLayout.lossToOffset))
    }

    /// Whether a file of that size has room for the entries and buckets that are in use.
    func fits(fileOf fileBytes: Int) -> Bool {
        let capacity = word32(IndexLayout.entryCapacityOffset)
        let buckets = word32(IndexLayout.bucketCountOffset)
        return Int(capacity) <= IndexLayout.chunks(inFileOf: fileBytes) * IndexLayout.chunkEntries
            && word32(IndexLayout.entryHighWaterOffset) <= capacity && buckets > 0
            && Int(buckets) <= Int(capacity) / IndexLayout.chunkEntries * IndexLayout.chunkBuckets
    }

    /// Numbers that the log's segments may have, those that were skipped included; none where it says something
    /// that can't be.
    var olderSegments: Range<UInt32> {
        let oldest = word32(IndexLayout.oldestSegmentOffset)
        let newest = head.segment
        guard oldest > 0, oldest <= newest, newest - oldest < UInt32(SegmentLayout.slots) else {
            return 0..<0
        }
        // The head's own is seen by where the log ends.
        return oldest..<newest
    }
}
