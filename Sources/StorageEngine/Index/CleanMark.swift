import CPlatform

/// A checksum over a closed index, so that the next who opens the archive need not add up what is in it.
///
/// Set by the last writer that leaves and taken away by the first that comes, both while nobody else has the
/// archive open for writing. Fields: OnDiskFormat, "The index".
extension IndexMemory {
    enum CleanMark { case right, wrong, none }

    /// An index up to this size is covered whole; of a larger one the header and the tables, so that opening a
    /// million entries does not mean reading 80 MB.
    static let wholeBytes = 4 << 20

    /// Can be asked without the lock; a mark that goes away meanwhile counts as none.
    func cleanMark() throws(StorageError) -> CleanMark {
        let flag = cleanFlag
        guard flag != 0 else { return .none }
        let sum = try sumNow()
        let isRight = flag == 1 && cleanSum == sum
        guard cleanFlag == flag else { return .none }
        return isRight ? .right : .wrong
    }

    func removeCleanMark() { cleanFlag = 0 }

    /// Needs that nobody else has the archive open for writing.
    func setCleanMark() throws(StorageError) {
        cleanSum = try sumNow()
        cleanFlag = 1
    }

    /// Everything but the mark itself.
    private func sumNow() throws(StorageError) -> UInt32 {
        let bytes = try fileBytes()
        guard bytes >= IndexLayout.chunksOffset else { return 0 }
        try mapWhole(atMost: IndexMemory.wholeBytes)
        let end = bytes <= IndexMemory.wholeBytes ? bytes : IndexLayout.chunksOffset
        let behind = IndexLayout.cleanFlagOffset + 4
        let sum = Checksum.crc32c(UnsafeRawBufferPointer(start: base, count: IndexLayout.cleanSumOffset))
        return Checksum.crc32c(UnsafeRawBufferPointer(start: base + behind, count: end - behind), seed: sum)
    }
}
