package struct LatestKeys: Sendable {
    package var keys: [String] = []
    package var looked = 0

    fileprivate init?(_ section: borrowing ArchiveSection, _ limit: Int) throws(StorageError) {
        let engine = section.engine
        let now = Clock.boot()
        let settled = engine.index.head
        var number = section.index.order.mostRecent
        while keys.count < limit, let slot = engine.index.entry(number) {
            guard looked < 2 * Archive.mostLatestKeys else { return nil }
            looked += 1
            if let line = try engine.line(number, slot, settled: settled),
                let key = try LatestKeys.reachableKey(on: line, at: now, in: engine)
            {
                keys.append(key)
            }
            number = slot.older
        }
    }

    /// The key of an entry that this process can find; `nil` if the entry is expired, or only in another process's memory.
    private static func reachableKey(
        on line: EntryLine, at now: Int64, in engine: ArchiveEngine
    ) throws(StorageError) -> String? {
        guard line.deadline == Deadline.never || now < line.deadline else { return nil }
        if line.isMemoryOnly {
            guard let own = engine.processSlot?.line,
                engine.index.residency.isMarked(line.number, line: own)
            else { return nil }
        }
        return try engine.withFrameIfPresent(at: line.location) { String(decoding: $0.key, as: UTF8.self) }
    }
}

extension Archive {
    /// Keys of the `limit` most recently accessed entries that are on disk or in this process's memory, read under the archive's
    /// lock in time proportional to `limit`. `nil` if removed or expired entries make ``entries(order:)`` cheaper.
    package func latestKeys(_ limit: Int) throws(StorageError) -> LatestKeys? {
        let engine = try engine()
        try engine.requireEntries(to: "list keys")
        let section = try engine.acquire()
        section.drainTouches()
        return try LatestKeys(section, limit)
    }

    /// Largest limit for ``latestKeys(_:)``; a call with it takes some hundred microseconds.
    package static var mostLatestKeys: Int { 512 }
}
