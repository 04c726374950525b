/// What a log says was removed, while an index is built from it. A copy (`move`) has the number of the frame that it copies, and
/// must not undo what came after that one: so it would in a log that was without a segment while it was reclaimed, and has that
/// segment again. OnDiskFormat, "Losses of the log". A value; for one thread.
struct ReplayedRemovals {
    /// More would take more memory than a rebuild may; the earliest are forgotten then.
    private static let most = 1 << 22

    /// Where the latest frame stands that removed a key, by the key's hash.
    private var places: [UInt64: Location] = [:]
    /// The number of the latest `deleteAll`.
    private var allBefore: UInt64 = 0

    mutating func add(_ hash: UInt64, at place: Location) {
        places[hash] = place
        guard places.count > ReplayedRemovals.most else { return }
        let middle = places.values.sorted()[places.count / 2]
        places = places.filter { $0.value > middle }
    }

    mutating func addAll(before sequence: UInt64) {
        places = [:]
        allBefore = max(allBefore, sequence)
    }

    /// An undo brought entries back, whose numbers are older than what removed others of their keys.
    mutating func forgetAll() { self = ReplayedRemovals() }

    /// Where the frame stands that may have removed the key after operation `sequence`; `all`: certainly.
    func place(of hash: UInt64, after sequence: UInt64) -> (all: Bool, place: Location?) {
        (sequence < allBefore, places[hash])
    }
}

extension ArchiveSection {
    /// Whether a copy is of a state of its key after which another came. `present`: the number of the operation that stored the
    /// key's entry; `nil`: it has none.
    func isOutdated(_ copy: Frame, present: UInt64?) throws(StorageError) -> Bool {
        if let present { return present > copy.sequence }
        let hash = engine.hash(copy.key)
        let removal = engine.replayedRemovals.withLock { $0?.place(of: hash, after: copy.sequence) }
        if removal?.all == true { return true }
        guard let place = removal?.place else { return false }
        return try engine.withFrameIfPresent(at: place) { frame in
            frame.key.elementsEqual(copy.key) && frame.sequence > copy.sequence
        } ?? false
    }

    /// Remembers what a frame says of a removal, for the copies that come after it.
    func noteRemoval(_ frame: Frame, at location: Location) {
        switch frame.kind {
        case .delete, .resident:
            let hash = engine.hash(frame.key)
            engine.replayedRemovals.withLock { $0?.add(hash, at: location) }
        case .deleteAll:
            let sequence = frame.sequence
            engine.replayedRemovals.withLock { $0?.addAll(before: sequence) }
        case .restore: engine.replayedRemovals.withLock { $0?.forgetAll() }
        default: break
        }
    }
}
