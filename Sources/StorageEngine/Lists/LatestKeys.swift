package struct LatestKeys: Sendable {
    package var keys: [String] = []
    package var looked = 0

    init?(_ section: borrowing ArchiveSection, _ limit: Int) throws(StorageError) {
        let engine = section.engine
        guard !section.index.order.hasQueues else { return nil }
        let now = Clock.boot()
        let settled = engine.index.head
        var number = section.index.order.mostRecent
        while keys.count < limit, let slot = engine.index.entry(number) {
            guard looked < 2 * Archive.mostLatestKeys else { return nil }
            looked += 1
            if let content = try engine.slotContent(number, slot, settled: settled),
                let key = try LatestKeys.reachableKey(of: content, at: now, in: engine)
            {
                keys.append(key)
            }
            number = slot.older
        }
    }

    /// The key of an entry that this process can find; `nil` if the entry is expired, or only in another process's memory.
    private static func reachableKey(
        of content: SlotContent, at now: Int64, in engine: ArchiveEngine
    ) throws(StorageError) -> String? {
        guard content.deadline == Deadline.never || now < content.deadline else { return nil }
        guard !content.isMemoryOnly || engine.isHeldHere(content.number) else { return nil }
        return try engine.withFrameIfPresent(at: content.location) { String(decoding: $0.key, as: UTF8.self) }
    }
}
