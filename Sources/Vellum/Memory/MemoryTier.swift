import StorageEngine

/// The decoded objects of one archive in this process, under one lock (``MemoryShelf``). It knows no types.
///
/// What it holds is the archive's as long as the index says so: another process' delete, update or expiry is seen at
/// the next call, and nothing has to be sent for it (S9). Its limit is of the encoded sizes (S3), and the objects that
/// this process has not used for longest go first (S5).
package struct MemoryTier: Sendable {
    private typealias State = MemoryShelf.State

    private let archive: Archive
    private let shelf: MemoryShelf

    init(archive: Archive, shelf: MemoryShelf) {
        self.archive = archive
        self.shelf = shelf
    }

    /// Calls `body` with what is held, as long as that is this archive's.
    private func withState<Value: Sendable>(
        _ body: (inout State) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        try shelf.state.withLock { (state) throws(StorageError) in
            guard state.archive === archive else { throw .closed(name: archive.name) }
            return try body(&state)
        }
    }

    // MARK: Looking up

    /// The object of a key, which becomes the most recent one in both tiers and counts as a hit (S5).
    func access(_ key: HashedKey, named name: String) throws(StorageError) -> HeldObject? {
        try withState { (state) throws(StorageError) in try state.access(key, named: name) }
    }

    /// The same without any trace.
    func peek(_ key: HashedKey, named name: String) throws(StorageError) -> HeldObject? {
        try withState { (state) throws(StorageError) -> HeldObject? in
            let place = state.objects.find(key.hash, name)
            guard place != ObjectTable.none, try state.isValid(place, key) else { return nil }
            return state.objects.node(place).object
        }
    }

    /// What only this process has of a key, without any trace, and the number of the operation that recorded it.
    func peekOnlyHere(
        _ key: HashedKey, named name: String
    ) throws(StorageError) -> (object: HeldObject, sequence: UInt64)? {
        try withState { (state) throws(StorageError) -> (object: HeldObject, sequence: UInt64)? in
            let place = state.objects.find(key.hash, name)
            guard place != ObjectTable.none, state.objects.node(place).isOnlyHere,
                try state.isValid(place, key), let object = state.objects.node(place).object
            else { return nil }
            return (object, state.objects.node(place).held.sequence)
        }
    }

    // MARK: Holding

    /// How an object got into memory: only what was read is a promotion.
    enum Origin {
        case recorded, read
    }

    /// Keeps an object, evicting the least recent ones until it fits. One that is larger than the limit is not kept, and
    /// evicts nothing (S4). After `pause` microseconds it has to be read from disk anew.
    func keep(
        _ object: HeldObject, _ key: HashedKey, named name: String, held: HeldEntry, bytes: Int,
        origin: Origin, isOnlyHere: Bool = false, atMost pause: Int64? = nil
    ) throws(StorageError) {
        try change { (state) throws(StorageError) in
            // Another thread may have stored the key anew since.
            let isCurrent = try archive.state(of: held) == .current
            guard let held = isCurrent ? held : try archive.follow(held, key: key) else { return }
            let limit = Int(clamping: try archive.memoryLimit())
            let place = state.objects.find(key.hash, name)
            if place != ObjectTable.none { try state.drop(place) }
            guard bytes <= limit else { return try state.leave(held, name, isOnlyHere: isOnlyHere) }
            try state.evict(downTo: limit - bytes)
            state.objects.insert(
                ObjectTable.Node(
                    hash: key.hash, key: name, object: object, held: held, bytes: bytes,
                    end: end(held.memoryInterval, pause, isOnlyHere: isOnlyHere),
                    isOnlyHere: isOnlyHere))
            switch origin {
            case .recorded: try archive.holdRecorded(held)
            case .read: try archive.hold(held, bytes: bytes)
            }
        }
    }

    /// When an object leaves memory at the latest.
    private func end(_ interval: Int64, _ pause: Int64?, isOnlyHere: Bool) -> Int64 {
        guard interval > 0 || pause != nil else { return .max }
        let own = interval > 0 ? interval : Int64.max / 2
        // What is nowhere else can't be read anew.
        return Archive.bootTime() + min(own, isOnlyHere ? .max / 2 : pause ?? .max / 2)
    }

    /// Forgets the object of a key that was deleted or changed, unless another thread has recorded it anew since.
    func forget(_ key: HashedKey, named name: String) throws(StorageError) {
        try change { (state) throws(StorageError) in
            let place = state.objects.find(key.hash, name)
            if place != ObjectTable.none { _ = try state.isValid(place, key) }
        }
    }

    // MARK: The whole

    /// Bytes of the objects that are still the archive's. Compares all with the index if anything has changed there
    /// since the last time, and evicts what a limit that was lowered, by whatever process, leaves no room for.
    func currentBytes() throws(StorageError) -> Int {
        let mark = try archive.changeMark()
        try withState { (state) throws(StorageError) in
            guard state.compared != mark else { return }
            for place in Array(state.objects.places) {
                try archive.withHashed(state.objects.node(place).key) { (key) throws(StorageError) in
                    _ = try state.isValid(place, key)
                }
            }
            state.compared = mark
        }
        try change { (state) throws(StorageError) in
            try state.evict(downTo: Int(clamping: try archive.memoryLimit()))
        }
        return try withState { (state) throws(StorageError) in state.objects.bytes }
    }

    /// Objects that are held, and look-ups that found one, since the archive was opened.
    var counts: (objects: Int, hits: UInt64) { shelf.state.withLock { ($0.objects.count, $0.hits) } }

    /// Whether there is anything that only this process has.
    var hasObjectsOnlyHere: Bool { shelf.state.withLock { $0.objects.onlyHere > 0 } }

    /// The keys of what is held, the most recent first.
    package var keys: [String] { shelf.state.withLock { $0.objects.keys } }

    private func change(_ body: (inout State) throws(StorageError) -> Void) throws(StorageError) {
        try withState { (state) throws(StorageError) in
            try body(&state)
            try archive.setMemoryUse(bytes: UInt64(state.objects.bytes))
        }
    }
}
