import StorageEngine

/// The decoded objects of one archive in this process (``MemoryShelf``). The index shows whether an object is current
/// (S9). The limit applies to encoded sizes (S3), and the objects used least recently here are evicted first (S5).
package struct MemoryTier: Sendable {
    private typealias State = MemoryShelf.State

    private let archive: Archive
    private let shelf: MemoryShelf

    init(archive: Archive, shelf: MemoryShelf) {
        self.archive = archive
        self.shelf = shelf
    }

    private func withState<Value: Sendable>(
        _ body: (inout State) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        try shelf.withLock { (state) throws(StorageError) in
            guard state.archive === archive else { throw .closed(name: archive.name) }
            return try body(&state)
        }
    }

    // MARK: Looking up

    /// The object of a key, which becomes the most recent in both tiers and counts as a hit (S5).
    func access(_ key: HashedKey, named name: String) throws(StorageError) -> HeldObject? {
        try withState { (state) throws(StorageError) in try state.access(key, named: name) }
    }

    func peek(_ key: HashedKey, named name: String) throws(StorageError) -> HeldObject? {
        try withState { (state) throws(StorageError) -> HeldObject? in
            let place = state.objects.find(key.hash, name)
            guard place != ObjectTable.none, try state.isValid(place, key) else { return nil }
            return state.objects.node(place).object
        }
    }

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

    /// How an object got into memory: only reading from disk is a promotion.
    enum Origin {
        case recorded, read
    }

    /// Keeps an object, and evicts the least recent ones until it fits; one that exceeds the limit isn't kept (S4). After `pause`
    /// microseconds it has to be read from disk again. Nothing is kept if `isOutdated`, evaluated under the lock.
    func keep(
        _ object: HeldObject, _ key: HashedKey, named name: String, held: HeldEntry, bytes: Int,
        origin: Origin, isOnlyHere: Bool = false, atMost pause: Int64? = nil,
        unless isOutdated: () -> Bool = { false }
    ) throws(StorageError) {
        try change { (state) throws(StorageError) in
            guard !isOutdated() else { return }
            // Another thread may have stored the key again in the meantime.
            let isCurrent = try archive.isCurrent(held)
            guard let held = isCurrent ? held : try archive.follow(held, key: key) else { return }
            let limit = Int(clamping: try archive.memoryLimit())
            let place = state.objects.find(key.hash, name)
            if place != ObjectTable.none { try state.drop(place) }
            guard bytes <= limit else { return try state.leave(held, name, isOnlyHere: isOnlyHere) }
            try state.evict(downTo: limit - bytes)
            state.objects.insert(
                ObjectTable.Node(
                    hash: key.hash, key: name, object: object,
                    end: end(held.memoryInterval, pause, isOnlyHere: isOnlyHere), held: held, bytes: bytes,
                    isOnlyHere: isOnlyHere))
            switch origin {
            case .recorded: try archive.holdRecorded(held)
            case .read: try archive.hold(held, bytes: bytes)
            }
        }
    }

    private func end(_ interval: Int64, _ pause: Int64?, isOnlyHere: Bool) -> Int64 {
        guard interval > 0 || pause != nil else { return .max }
        let own = interval > 0 ? interval : Int64.max / 2
        // The pause doesn't apply: an object without a disk copy can't be read again.
        return Archive.bootTime() + min(own, isOnlyHere ? .max / 2 : pause ?? .max / 2)
    }

    func forget(_ key: HashedKey, named name: String) throws(StorageError) {
        try change { (state) throws(StorageError) in
            let place = state.objects.find(key.hash, name)
            if place != ObjectTable.none { _ = try state.isValid(place, key) }
        }
    }

    func leave(_ key: HashedKey, named name: String) throws(StorageError) {
        try change { (state) throws(StorageError) in
            let place = state.objects.find(key.hash, name)
            guard place != ObjectTable.none, !state.objects.node(place).isOnlyHere else { return }
            try state.drop(place)
        }
    }

    /// Drops all objects from memory that are on disk, at once if unshared; the returned closure does the slow rest.
    func leaveAll() throws(StorageError) -> @Sendable () -> Void {
        let former = Guarded(ObjectTable())
        try change { (state) throws(StorageError) in
            guard state.objects.onlyHere == 0 else {
                for place in Array(state.objects.places) where !state.objects.node(place).isOnlyHere {
                    try state.drop(place)
                }
                return
            }
            var objects = ObjectTable()
            swap(&objects, &state.objects)
            former.withLock { [objects] in $0 = objects }
        }
        return {
            let objects = former.withLock { former in
                defer { former = ObjectTable() }
                return former
            }
            for place in objects.places { release(objects.node(place)) }
        }
    }

    private func release(_ node: ObjectTable.Node) {
        // An archive that was closed has nothing in memory.
        try? withState { (state) throws(StorageError) in
            guard state.objects.find(node.hash, node.key) == ObjectTable.none else { return }
            try archive.release(node.held, forKey: node.key)
        }
    }

    /// Bytes of the current objects. If the index changed, compares all with it, and evicts for a limit lowered by another process.
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

    var counts: (objects: Int, hits: UInt64) { shelf.figures { ($0.objects.count, $0.hits) } }

    var hasObjectsOnlyHere: Bool { shelf.figures { $0.objects.onlyHere > 0 } }

    package var keys: [String] { shelf.figures { $0.objects.keys } }

    private func change(_ body: (inout State) throws(StorageError) -> Void) throws(StorageError) {
        try withState { (state) throws(StorageError) in
            try body(&state)
            try archive.setMemoryUse(bytes: UInt64(state.objects.bytes))
        }
    }
}
