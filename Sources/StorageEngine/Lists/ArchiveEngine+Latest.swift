package struct LatestKeys: Sendable {
    package var keys: [String] = []
    package var looked = 0
}

extension Archive {
    /// Keys of the `limit` most recently accessed entries that are on disk or in this process's memory, read under the archive's
    /// lock in time proportional to `limit`. `nil` if removed or expired entries make ``entries(order:)`` cheaper.
    package func latestKeys(_ limit: Int) throws(StorageError) -> LatestKeys? {
        try engine().latestKeys(limit)
    }

    /// Largest limit for ``latestKeys(_:)``; a call with it takes some hundred microseconds.
    package static var mostLatestKeys: Int { 512 }
}

extension ArchiveEngine {
    fileprivate func latestKeys(_ limit: Int) throws(StorageError) -> LatestKeys? {
        try requireEntries(to: "list keys")
        let section = try acquire()
        section.drainTouches()
        return try section.latestKeys(limit)
    }

    /// The key of an entry that this process can find; `nil` if the entry is expired, or only in another process's memory.
    fileprivate func reachableKey(on line: EntryLine, at now: Int64) throws(StorageError) -> String? {
        guard line.deadline == Deadline.never || now < line.deadline else { return nil }
        if line.isMemoryOnly {
            guard let own = processSlot?.line, index.residency.isMarked(line.number, line: own) else {
                return nil
            }
        }
        return try withFrameIfPresent(at: line.location) { String(decoding: $0.key, as: UTF8.self) }
    }
}

extension ArchiveSection {
    fileprivate func latestKeys(_ limit: Int) throws(StorageError) -> LatestKeys? {
        var latest = LatestKeys()
        let now = Clock.boot()
        let settled = engine.index.head
        var number = index.order.mostRecent
        while latest.keys.count < limit, let slot = engine.index.entry(number) {
            guard latest.looked < 2 * Archive.mostLatestKeys else { return nil }
            latest.looked += 1
            if let line = try engine.line(number, slot, settled: settled),
                let key = try engine.reachableKey(on: line, at: now)
            {
                latest.keys.append(key)
            }
            number = slot.older
        }
        return latest
    }
}
