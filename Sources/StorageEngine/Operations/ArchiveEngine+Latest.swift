package struct LatestKeys: Sendable {
    package var keys: [String] = []
    package var looked = 0
}

extension Archive {
    /// Keys of the `limit` most recently used entries that are on disk or in this process' memory, under the archive's
    /// lock, in time proportional to `limit`. `nil` if removed or expired entries make ``entries(order:)`` cheaper.
    package func latestKeys(_ limit: Int) throws(StorageError) -> LatestKeys? {
        try engine().latestKeys(limit)
    }

    /// Largest limit for ``latestKeys(_:)``, which takes some hundred microseconds then.
    package static var mostLatestKeys: Int { 512 }
}

extension ArchiveEngine {
    fileprivate func latestKeys(_ limit: Int) throws(StorageError) -> LatestKeys? {
        try requireEntries(to: "list keys")
        let section = try acquire()
        section.drainTouches()
        return try section.latestKeys(limit)
    }

    /// The key of the entry, if this process can find it: not expired, and not only in another process' memory.
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
