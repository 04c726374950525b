import StorageEngine

package final class MemoryShelf: Sendable {
    struct State {
        var archive: Archive
        var objects = ObjectTable()
        var hits: UInt64 = 0
        /// Objects that left memory, released without the lock: a type's `deinit` may do anything.
        fileprivate(set) var dropped: [HeldObject] = []
        /// The archive's change mark when all objects were last compared with the index.
        var compared: UInt64?
    }

    private let state: Guarded<State>

    init(archive: Archive) { state = Guarded(State(archive: archive)) }

    /// Empties the memory for another archive. Returns the content, to be released as ``State/dropped``.
    func begin(_ archive: Archive) -> State {
        state.withLock { state in
            let former = state
            state = State(archive: archive)
            return former
        }
    }

    @inline(__always)
    func withLock<Value: Sendable>(
        _ body: (inout State) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        var dropped: [HeldObject] = []
        defer { withExtendedLifetime(dropped) {} }
        return try state.withLock { (state) throws(StorageError) in
            defer { if !state.dropped.isEmpty { swap(&dropped, &state.dropped) } }
            return try body(&state)
        }
    }

    func figures<Value: Sendable>(_ body: (borrowing State) -> Value) -> Value { state.withLock { body($0) } }

    /// The object of a key, if it is in memory. It becomes the most recent in both tiers and counts as a hit (S5).
    func access(_ name: String) throws(StorageError) -> HeldObject? {
        var contiguous = name
        let result = contiguous.withUTF8 { bytes in
            Result { () throws(StorageError) in
                try withLock { (state) throws(StorageError) in
                    let key = try state.archive.hashed(UnsafeRawBufferPointer(bytes))
                    return try state.access(key, named: name)
                }
            }
        }
        return try result.get()
    }
}

extension MemoryShelf.State {
    @inline(__always)
    mutating func access(_ key: HashedKey, named name: String) throws(StorageError) -> HeldObject? {
        let place = objects.find(key.hash, name)
        guard place != ObjectTable.none else { return nil }
        var isCurrent = false
        if objects.node(place).end == .max { isCurrent = try archive.access(objects.node(place).held) }
        // The entry may have been moved. An object with an expiry time is checked first.
        if !isCurrent, try isValid(place, key) { isCurrent = try archive.access(objects.node(place).held) }
        guard isCurrent else { return nil }
        objects.makeNewest(place)
        hits &+= 1
        if hits & 255 == 0 { try expectFiles() }
        return objects.node(place).object
    }

    @inline(never)
    private func expectFiles() throws(StorageError) {
        if archive.closeIfRemoved() { throw .closed(name: archive.name) }
    }

    /// Whether the object at a place may still be used. If not, removes it.
    @inline(never)
    mutating func isValid(_ place: ObjectTable.Place, _ key: HashedKey) throws(StorageError) -> Bool {
        let isOver = objects.node(place).end != .max && Archive.bootTime() >= objects.node(place).end
        if !isOver, try archive.isCurrent(objects.node(place).held) { return true }
        // Its frame may have been moved.
        if !isOver, let held = try archive.follow(objects.node(place).held, key: key) {
            objects.follow(held, at: place)
            return true
        }
        try drop(place)
        return false
    }

    mutating func evict(downTo limit: Int) throws(StorageError) {
        while objects.bytes > limit, objects.oldest != ObjectTable.none { try drop(objects.oldest) }
    }

    mutating func drop(_ place: ObjectTable.Place) throws(StorageError) {
        let node = objects.remove(place)
        if let object = node.object { dropped.append(object) }
        try leave(node.held, node.key, isOnlyHere: node.isOnlyHere)
    }

    func leave(_ held: HeldEntry, _ name: String, isOnlyHere: Bool) throws(StorageError) {
        try archive.release(held, forKey: name)
        if isOnlyHere { try archive.remove(held, forKey: name) }
    }
}
