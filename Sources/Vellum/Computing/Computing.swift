import StorageEngine

/// Which computations the code that runs is a part of, and which wait for which.
enum Computing {
    struct Key: Hashable, Sendable {
        let archive: ObjectIdentifier
        let key: ExactText
    }

    /// The innermost last.
    @TaskLocal static var chain: [Key] = []

    /// Of all archives of this process: a computation may need what another archive computes. A computation that has several
    /// tasks may wait for several others, and for one of them several times.
    private static let waits = Guarded<[Key: [Key: Int]]>([:])

    /// Says that the computation that the code is a part of waits for that of `key`, until ``end(_:)``.
    /// - Throws: ``ArchiveError/computesItself(key:)`` or ``ArchiveError/computesEachOther(key:other:)`` if that waits for this one
    ///   already, so that both would wait for ever.
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

    /// The waiting that ``begin(_:)`` told of is over.
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
