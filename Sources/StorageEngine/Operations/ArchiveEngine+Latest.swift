/// The keys of the entries that were used last.
package struct LatestKeys: Sendable {
    /// The most recent first.
    package var keys: [String] = []
    /// Entries that were looked at for them.
    package var looked = 0
}

extension Archive {
    /// The keys of the `limit` entries that were used last, of those on disk or in this process' memory. Costs in proportion to
    /// that, and not to how many entries there are, up to ``mostLatestKeys``; it holds the archive's lock meanwhile.
    /// `nil`: so many deleted or expired entries that wait to be removed come first that a list (``entries(order:)``) is
    /// cheaper.
    package func latestKeys(_ limit: Int) throws(StorageError) -> LatestKeys? {
        try engine().latestKeys(limit)
    }

    /// Some hundred microseconds.
    package static var mostLatestKeys: Int { 512 }
}

extension ArchiveEngine {
    fileprivate func latestKeys(_ limit: Int) throws(StorageError) -> LatestKeys? {
        try requireEntries(to: "list keys")
        let section = try acquire()
        section.drainTouches()
        return try section.latestKeys(limit)
    }

    /// The key of a line that a caller of this process finds.
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
