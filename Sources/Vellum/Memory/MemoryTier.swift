import StorageEngine

/// The decoded objects of one archive in this process, under one lock. It knows no types.
///
/// What it holds is the archive's as long as the index says so: another process' delete, update or expiry is seen at
/// the next call, and nothing has to be sent for it (S9). Its limit is of the encoded sizes (S3), and the objects that
/// this process has not used for longest go first (S5).
package final class MemoryTier: Sendable {
    private struct State {
        var objects = ObjectTable()
        var hits: UInt64 = 0
        /// The archive's change mark when all objects were last compared with the index.
        var compared: UInt64?
    }

    private let archive: Archive
    private let state = Guarded(State())

    init(archive: Archive) { self.archive = archive }

    // MARK: Looking up

    /// The object of a key, which becomes the most recent one in both tiers and counts as a hit (S5).
    func access(_ key: HashedKey, named name: String) throws(StorageError) -> HeldObject? {
        try state.withLock { (state) throws(StorageError) -> HeldObject? in
            let place = state.objects.find(key.hash, name)
            guard place != ObjectTable.none else { return nil }
            var standing = HeldState.gone
            if state.objects.node(place).end == .max {
                standing = try archive.access(state.objects.node(place).held)
            }
            // What is gone may only have been moved, and what has a deadline here is looked at first.
            if standing == .gone, try isValid(place, key, &state.objects) {
                standing = try archive.access(state.objects.node(place).held)
            }
            guard standing == .current else { return nil }
            state.objects.makeNewest(place)
            state.hits &+= 1
            return state.objects.node(place).object
        }
    }

    /// The same for a key that nobody has hashed yet, and its hash.
    func access(_ name: String) throws(StorageError) -> (object: HeldObject?, hash: UInt64) {
        var contiguous = name
        let result = contiguous.withUTF8 { bytes in
            Result { () throws(StorageError) in
                let key = try archive.hashed(UnsafeRawBufferPointer(bytes))
                return (object: try access(key, named: name), hash: key.hash)
            }
        }
        return try result.get()
    }

    /// The same without any trace.
    func peek(_ key: HashedKey, named name: String) throws(StorageError) -> HeldObject? {
        try state.withLock { (state) throws(StorageError) -> HeldObject? in
            let place = state.objects.find(key.hash, name)
            guard place != ObjectTable.none, try isValid(place, key, &state.objects) else { return nil }
            return state.objects.node(place).object
        }
    }

    /// Whether the object at a place may still be used; if not, it goes.
    private func isValid(
        _ place: ObjectTable.Place, _ key: HashedKey, _ objects: inout ObjectTable
    ) throws(StorageError) -> Bool {
        let isOver = objects.node(place).end != .max && Archive.bootTime() >= objects.node(place).end
        if !isOver, try archive.state(of: objects.node(place).held) == .current { return true }
        // Its frame may only have been moved.
        if !isOver, let held = try archive.follow(objects.node(place).held, key: key) {
            objects.follow(held, at: place)
            return true
        }
        try drop(place, &objects)
        return false
    }

    // MARK: Holding

    /// How an object got into memory: only what was read is a promotion.
    enum Origin {
        case recorded, read
    }

    /// Keeps an object, evicting the least recent ones until it fits. One that is larger than the limit is not kept, and
    /// evicts nothing (S4).
    func keep(
        _ object: HeldObject, _ key: HashedKey, named name: String, held: HeldEntry, bytes: Int,
        origin: Origin, isOnlyHere: Bool = false
    ) throws(StorageError) {
        try change { (objects) throws(StorageError) in
            // Another thread may have stored the key anew since.
            let isCurrent = try archive.state(of: held) == .current
            guard let held = isCurrent ? held : try archive.follow(held, key: key) else { return }
            let limit = Int(clamping: try archive.memoryLimit())
            let place = objects.find(key.hash, name)
            if place != ObjectTable.none { try drop(place, &objects) }
            guard bytes <= limit else { return try leave(held, name, isOnlyHere: isOnlyHere) }
            try evict(downTo: limit - bytes, &objects)
            objects.insert(
                ObjectTable.Node(
                    hash: key.hash, key: name, object: object, held: held, bytes: bytes,
                    end: held.memoryInterval > 0 ? Archive.bootTime() + held.memoryInterval : .max,
                    isOnlyHere: isOnlyHere))
            switch origin {
            case .recorded: try archive.holdRecorded(held)
            case .read: try archive.hold(held, bytes: bytes)
            }
        }
    }

    /// Forgets the object of a key that was deleted.
    func forget(_ key: HashedKey, named name: String) throws(StorageError) {
        try change { (objects) throws(StorageError) in
            let place = objects.find(key.hash, name)
            if place != ObjectTable.none { try drop(place, &objects) }
        }
    }

    func forgetAll() throws(StorageError) {
        try change { (objects) throws(StorageError) in try evict(downTo: -1, &objects) }
    }

    /// Bytes of the objects that are still the archive's. Compares all with the index if anything has changed there
    /// since the last time, and evicts what a limit that was lowered, by whatever process, leaves no room for.
    func currentBytes() throws(StorageError) -> Int {
        let mark = try archive.changeMark()
        try state.withLock { (state) throws(StorageError) in
            guard state.compared != mark else { return }
            for place in Array(state.objects.places) {
                try archive.withHashed(state.objects.node(place).key) { (key) throws(StorageError) in
                    _ = try isValid(place, key, &state.objects)
                }
            }
            state.compared = mark
        }
        try change { (objects) throws(StorageError) in
            try evict(downTo: Int(clamping: try archive.memoryLimit()), &objects)
        }
        return state.withLock { $0.objects.bytes }
    }

    /// Objects that are held, and look-ups that found one, since the archive was opened.
    var counts: (objects: Int, hits: UInt64) { state.withLock { ($0.objects.count, $0.hits) } }

    /// Whether there is anything that only this process has.
    var hasObjectsOnlyHere: Bool { state.withLock { $0.objects.onlyHere > 0 } }

    /// The keys of what is held, the most recent first.
    package var keys: [String] { state.withLock { $0.objects.keys } }

    private func change(_ body: (inout ObjectTable) throws(StorageError) -> Void) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            try body(&state.objects)
            try archive.setMemoryUse(bytes: UInt64(state.objects.bytes))
        }
    }

    /// Evicts the least recent objects until those that are left have at most `limit` bytes.
    private func evict(downTo limit: Int, _ objects: inout ObjectTable) throws(StorageError) {
        while objects.bytes > limit, objects.oldest != ObjectTable.none { try drop(objects.oldest, &objects) }
    }

    private func drop(_ place: ObjectTable.Place, _ objects: inout ObjectTable) throws(StorageError) {
        let node = objects.remove(place)
        try leave(node.held, node.key, isOnlyHere: node.isOnlyHere)
    }

    private func leave(_ held: HeldEntry, _ name: String, isOnlyHere: Bool) throws(StorageError) {
        try archive.letGo(held, forKey: name)
        if isOnlyHere { try archive.remove(held, forKey: name) }
    }
}
