import StorageEngine

/// Tracks which computations the current code belongs to, and which of them wait for which.
enum Computing {
    struct Key: Hashable, Sendable {
        let archive: ObjectIdentifier
        let key: ExactText
    }

    /// The innermost last.
    @TaskLocal static var chain: [Key] = []

    /// For all archives of this process, which may need each other's objects; tasks of a computation may wait several times.
    private static let waits = Guarded<[Key: [Key: Int]]>([:])

    /// Registers, until ``end(_:)``, that the current computation waits for `key`. Throws
    /// ``ArchiveError/computesItself(key:)`` or ``ArchiveError/computesEachOther(key:other:)`` instead of waiting
    /// forever.
    static func begin(_ key: Key) throws {
        guard let waiting = chain.last else { return }
        guard !chain.contains(key) else { throw ArchiveError.computesItself(key: key.key.text) }
        try waits.withLock { waits in
            guard !reaches(waiting, from: key, waits) else {
                throw ArchiveError.computesEachOther(key: waiting.key.text, other: key.key.text)
            }
            waits[waiting, default: [:]][key, default: 0] += 1
        }
    }

    static func end(_ key: Key) {
        guard let waiting = chain.last else { return }
        waits.withLock { waits in
            let left = (waits[waiting]?[key] ?? 1) - 1
            waits[waiting]?[key] = left > 0 ? left : nil
            if waits[waiting]?.isEmpty == true { waits[waiting] = nil }
        }
    }

    private static func reaches(_ end: Key, from start: Key, _ waits: [Key: [Key: Int]]) -> Bool {
        var (seen, left): (Set<Key>, [Key]) = ([], [start])
        while let key = left.popLast() {
            if key == end { return true }
            if seen.insert(key).inserted { left += (waits[key] ?? [:]).keys }
        }
        return false
    }
}
