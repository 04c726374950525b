extension HashTable {
    /// Live entries with this tag, usually one; with `hidden`, tombstoned ones instead. Retries while chains change; visits all slots
    /// if their writer was stopped.
    func entries(ofTag tag: UInt32, hidden: Bool = false) -> [UInt32] {
        let wait = WriterWait(index)
        repeat {
            let before = index.structureVersion
            let found = chainedEntries(tag, hidden)
            if let found, before & 1 == 0, index.structureVersion == before { return found }
        } while wait.shouldContinue()
        return (0..<index.usedEntries).map { $0 + 1 }.filter { isEntry($0, tag, hidden) }
    }

    private func isEntry(_ number: UInt32, _ tag: UInt32, _ hidden: Bool) -> Bool {
        guard let slot = index.entry(number), slot.tag == tag else { return false }
        return hidden ? index.marks.isHidden(number, slot) : index.marks.isVisible(number, slot)
    }

    private func chainedEntries(_ tag: UInt32, _ hidden: Bool) -> [UInt32]? {
        guard let bucket = bucket(of: tag) else { return nil }
        var found: [UInt32] = []
        for place in 0..<Bucket.cells where bucket.cell(place) != 0 {
            if isEntry(bucket.number(place), tag, hidden) { found.append(bucket.number(place)) }
        }
        var chain = chain(of: bucket)
        while chain.next() != nil { if isEntry(chain.number, tag, hidden) { found.append(chain.number) } }
        return chain.isBroken ? nil : found
    }
}
