/// New entries enter a window of 1 %. The window's oldest entry enters the main part only if it was requested more often than all
/// entries that it would replace (Einziger, Friedman and Manes, TinyLFU: A Highly Efficient Cache Admission Policy, ACM TOS
/// 2017). The main part is a segmented LRU. Frequencies are counted per key up to 15, and halved regularly.
struct WTinyLFUPolicy: EvictionPolicy {
    private static let window: UInt8 = 0
    /// Entries of the main part that were not accessed there.
    private static let probation: UInt8 = 1
    /// Accessed entries of the main part, at most four fifths of it.
    private static let protected: UInt8 = 2
    private static let highestFrequency: UInt16 = 15

    var limit: Int {
        didSet {
            demote()
            shrinkWindow()
            shrink(to: limit)
        }
    }
    private var entries = LinkedEntries()
    /// Number of halvings. They are applied to a key's frequency when it is read.
    private var epoch: UInt32 = 0
    /// Number of requests, halved together with the frequencies.
    private var requests = 0
    private var insertions = 0.0
    private var insertedSize = 0.0

    init(limit: Int) { self.limit = limit }

    private var windowLimit: Int { max(1, limit / 100) }
    private var main: Int { entries.total(Self.probation) + entries.total(Self.protected) }
    var used: Int { entries.total(Self.window) + main }
    func holds(_ key: Int) -> Bool { entries[key].list != LinkedEntries.none }
    func size(of key: Int) -> Int { entries[key].size }

    private func frequency(of key: Int) -> UInt16 {
        let node = entries[key]
        return node.frequency >> UInt16(min(15, epoch - node.epoch))
    }

    private mutating func count(_ key: Int) {
        let frequency = min(frequency(of: key) + 1, Self.highestFrequency)
        entries[key].frequency = frequency
        entries[key].epoch = epoch
        requests += 1
        // Halves the frequencies after ten requests for each entry that fits.
        guard Double(requests) * insertedSize >= 10 * Double(limit) * insertions, insertions > 0 else {
            return
        }
        epoch += 1
        requests /= 2
    }

    mutating func touch(_ key: Int) {
        count(key)
        entries.move(key, to: entries[key].list == Self.window ? Self.window : Self.protected)
        demote()
    }

    private mutating func demote() {
        let most = Int(Double(limit - windowLimit) * 0.8)
        while entries.total(Self.protected) > most, let last = entries.last(Self.protected) {
            entries.move(last, to: Self.probation)
        }
    }

    mutating func insert(_ key: Int, size: Int) {
        insertions += 1
        insertedSize += Double(size)
        count(key)
        entries.add(key, to: Self.window, size: size)
        shrinkWindow()
        // The main part may have used the window's free space.
        shrink(to: limit)
    }

    private mutating func shrinkWindow() {
        while entries.total(Self.window) > windowLimit, let key = entries.last(Self.window) { admit(key) }
    }

    private mutating func admit(_ candidate: Int) {
        let needed = main + entries[candidate].size - (limit - windowLimit)
        var victims = 0
        var freed = 0
        var sum = 0
        var next = entries.last(Self.probation)
        while freed < needed, sum < Self.highestFrequency, let victim = next {
            victims += 1
            freed += entries[victim].size
            sum += Int(frequency(of: victim))
            next = entries.newer(victim)
        }
        guard needed <= 0 || freed >= needed && Int(frequency(of: candidate)) > sum
        else { return entries.remove(candidate) }
        for _ in 0..<victims { evict() }
        entries.move(candidate, to: Self.probation)
    }

    mutating func resize(_ key: Int, to size: Int) { entries.resize(key, to: size) }

    mutating func evict() {
        let victim =
            entries.last(Self.probation) ?? entries.last(Self.protected) ?? entries.last(Self.window)
        if let victim { entries.remove(victim) }
    }

    mutating func remove(_ key: Int) { if holds(key) { entries.remove(key) } }
}
