import CPlatform

extension IndexMemory {
    /// The live entries of a tag: usually one, more where keys share it or several processes have an entry of one key in
    /// their memories. Needs no lock: looks again while chains are changing, and at every entry when whoever changes them
    /// does not finish.
    func liveEntries(ofTag tag: UInt32) -> [UInt32] {
        for attempt in 0..<400 {
            let before = structureVersion
            let found = chainedEntries(ofTag: tag)
            if let found, before & 1 == 0, structureVersion == before { return found }
            if attempt < 100 { cp_pause() } else { cp_sleep(10_000) }
        }
        return (0..<usedEntries).map { $0 + 1 }.filter { isLive($0, tag) }
    }

    private func isLive(_ number: UInt32, _ tag: UInt32) -> Bool {
        guard let slot = entry(number) else { return false }
        return slot.tag == tag && isVisible(number, slot)
    }

    /// `nil`: that can't be told just now.
    private func chainedEntries(ofTag tag: UInt32) -> [UInt32]? {
        guard let bucket = bucket(of: tag) else { return nil }
        var found: [UInt32] = []
        for place in 0..<Bucket.cells where bucket.cell(place) != 0 {
            if isLive(bucket.number(place), tag) { found.append(bucket.number(place)) }
        }
        var chain = ChainWalk(self, from: bucket.overflow)
        while chain.next() != nil { if isLive(chain.number, tag) { found.append(chain.number) } }
        return chain.isRing ? nil : found
    }
}
