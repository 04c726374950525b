extension HashTable {
    /// Live entries with this tag, usually one. Retries while chains change; visits all slots if their writer was stopped.
    func liveEntries(ofTag tag: UInt32) -> [UInt32] {
        let wait = WriterWait(index)
        repeat {
            let before = index.structureVersion
            let found = chainedEntries(ofTag: tag)
            if let found, before & 1 == 0, index.structureVersion == before { return found }
        } while wait.shouldContinue()
        return (0..<index.usedEntries).map { $0 + 1 }.filter { isLive($0, tag) }
    }

    private func isLive(_ number: UInt32, _ tag: UInt32) -> Bool {
        guard let slot = index.entry(number) else { return false }
        return slot.tag == tag && index.marks.isVisible(number, slot)
    }

    private func chainedEntries(ofTag tag: UInt32) -> [UInt32]? {
        guard let bucket = bucket(of: tag) else { return nil }
        var found: [UInt32] = []
        for place in 0..<Bucket.cells where bucket.cell(place) != 0 {
            if isLive(bucket.number(place), tag) { found.append(bucket.number(place)) }
        }
        var chain = chain(of: bucket)
        while chain.next() != nil { if isLive(chain.number, tag) { found.append(chain.number) } }
        return chain.isBroken ? nil : found
    }
}
