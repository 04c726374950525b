import CPlatform

/// A checksum over a closed index, so that the next who opens the archive need not add up what is in it.
///
/// Set by the last writer that leaves and taken away by the first that comes, both while nobody else has the archive open
/// for writing. Invariant: where it is right, the bytes that it covers are those that its maker left. Fields: OnDiskFormat,
/// "The index".
struct CleanMark<Right> {
    private let index: MappedIndex<Right>

    fileprivate init(_ index: MappedIndex<Right>) { self.index = index }

    /// Can be asked by anyone; a mark that goes away meanwhile counts as none.
    func standing() throws(StorageError) -> MarkStanding {
        let flag = index.cleanFlag
        guard flag != 0 else { return .none }
        let sum = try sumNow()
        let isRight = flag == 1 && index.cleanSum == sum
        guard index.cleanFlag == flag else { return .none }
        return isRight ? .right : .wrong
    }

    /// Everything but the mark itself.
    private func sumNow() throws(StorageError) -> UInt32 {
        try index.memory.memory.checksum(
            sparing: IndexLayout.cleanSumOffset..<IndexLayout.cleanFlagOffset + 4)
    }
}

/// What a clean mark says.
enum MarkStanding { case right, wrong, none }

extension CleanMark where Right == Changing {
    func remove() { index.cleanFlag = 0 }

    /// Needs that nobody else has the archive open for writing.
    func set() throws(StorageError) {
        index.cleanSum = try sumNow()
        index.cleanFlag = 1
    }
}

extension MappedIndex {
    var cleanMark: CleanMark<Right> { CleanMark(self) }
}
