/// Visits all entries chained by ``EntrySlot/chainNext``. Stops at the cycle of a damaged chain. (R. P. Brent: "An improved
/// Monte Carlo factorization algorithm", BIT 20, 1980: remembers an entry after 1, 2, 4, … steps.)
struct ChainWalk<Right> {
    private let index: MappedIndex<Right>
    private let first: UInt32
    private var slot: EntrySlot<Right>?
    private var remembered: UInt32 = 0
    private var lap = 1
    private var left = 1
    private(set) var number: UInt32 = 0
    /// Whether the walk ended early, at a cycle, a missing entry or an unmapped one. The chain may have further entries.
    private(set) var isBroken = false

    @inline(__always) init(_ index: MappedIndex<Right>, from first: UInt32) {
        self.index = index
        self.first = first
    }

    @inline(__always) mutating func next() -> EntrySlot<Right>? {
        let number = slot?.chainNext ?? first
        guard let slot = index.entry(number), number != remembered else {
            isBroken = number != 0
            return nil
        }
        left -= 1
        if left == 0 {
            remembered = number
            lap &*= 2
            left = lap
        }
        self.number = number
        self.slot = slot
        return slot
    }
}
