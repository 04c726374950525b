/// A checksum over a closed index, so that the next opening need not verify its totals: OnDiskFormat, "The index".
///
/// The last writer sets it at closing, and the first that opens removes it, alone. Invariant: if the mark is right, the covered
/// bytes are unchanged. A late look-up counts itself without a lock, which invalidates it; the next opening rebuilds the index.
struct CleanMark<Right> {
    private let index: MappedIndex<Right>

    fileprivate init(_ index: MappedIndex<Right>) { self.index = index }

    /// Requires no lock. A mark that is removed during the call counts as absent.
    func standing() throws(StorageError) -> MarkStanding {
        let flag = index.cleanFlag
        guard flag != 0 else { return .none }
        let sum = try sumNow()
        let isRight = flag == 1 && index.cleanSum == sum
        guard index.cleanFlag == flag else { return .none }
        return isRight ? .right : .wrong
    }

    private func sumNow() throws(StorageError) -> UInt32 {
        try index.storage.checksum(
            sparing: IndexLayout.cleanSumOffset..<IndexLayout.cleanFlagOffset + 4)
    }
}

enum MarkStanding { case right, wrong, none }

extension CleanMark where Right == Changing {
    func remove() { index.setCleanFlag(0) }

    func spoil() {
        index.setCleanSum(~index.cleanSum)
        index.setCleanFlag(1)
    }

    /// Requires that no other process has the archive open for writing. `reading`: this moment on the wall clock and on the boot
    /// clock of the index's boot; `nil` after a restart: keeps the former reading.
    func set(at reading: Clock.Reading? = Clock.read()) throws(StorageError) {
        if let reading { index.setMarkedReading(reading) }
        index.setCleanSum(try sumNow())
        index.setCleanFlag(1)
    }
}

extension MappedIndex {
    var cleanMark: CleanMark<Right> { CleanMark(self) }
}
