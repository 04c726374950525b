import CPlatform

extension HashTable {
    /// The live entries of a tag: usually one, more where keys share it or several processes have an entry of one key in
    /// their memories. Looks again while chains are changing, and at every entry when whoever changes them does not finish.
    func liveEntries(ofTag tag: UInt32) -> [UInt32] {
        for attempt in 0..<400 {
            let before = index.structureVersion
            let found = chainedEntries(ofTag: tag)
            if let found, before & 1 == 0, index.structureVersion == before { return found }
            if attempt < 100 { cp_pause() } else { cp_sleep(10_000) }
        }
        return (0..<index.usedEntries).map { $0 + 1 }.filter { isLive($0, tag) }
    }

    private func isLive(_ number: UInt32, _ tag: UInt32) -> Bool {
        guard let slot = index.entry(number) else { return false }
        return slot.tag == tag && index.marks.isVisible(number, slot)
    }

    /// `nil`: that can't be told just now.
    private func chainedEntries(ofTag tag: UInt32) -> [UInt32]? {
        guard let bucket = bucket(of: tag) else { return nil }
        var found: [UInt32] = []
        for place in 0..<Bucket.cells where bucket.cell(place) != 0 {
            if isLive(bucket.number(place), tag) { found.append(bucket.number(place)) }
        }
        var chain = chain(of: bucket)
        while chain.next() != nil { if isLive(chain.number, tag) { found.append(chain.number) } }
        return chain.isRing ? nil : found
    }
}
