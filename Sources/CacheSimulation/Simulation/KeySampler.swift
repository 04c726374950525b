/// Selects keys by their hash (Waldspurger et al., Efficient MRC Construction with SHARDS, FAST 2015), numbers them from 0, and
/// resolves their sizes and expiry times.
struct KeySampler {
    /// A key is sampled if its hash modulo 2^24 is below ``threshold``.
    static let modulus: UInt32 = 1 << 24

    private struct Key {
        var hash: UInt64
        var size = 0
        var expiry = Int64.max
        /// Whether the key's last request was a read.
        var isRead = false
        var isUsed = true
        /// Whether it was requested since the last deletion of all keys.
        var isRequested = false

        var value: UInt32 { UInt32(truncatingIfNeeded: hash) & (KeySampler.modulus - 1) }
    }

    private(set) var threshold: UInt32
    private let unit: LimitUnit
    private var numbers: [UInt64: UInt32] = [:]
    private var keys: [Key] = []
    private var free: [UInt32] = []
    /// Numbers of keys that may be cached: those that were requested since the last deletion of all keys.
    private var requested: [UInt32] = []

    /// `rate`: share of the keys, 0 to 1.
    init(rate: Double, unit: LimitUnit) { (threshold, self.unit) = (Self.threshold(rate), unit) }

    private static func threshold(_ rate: Double) -> UInt32 {
        max(1, UInt32((Double(modulus) * min(1, max(0, rate))).rounded()))
    }

    var rate: Double { Double(threshold) / Double(Self.modulus) }
    var count: Int { numbers.count }
    /// The sum of the sizes of all sampled keys.
    var totalSize: Int { keys.reduce(0) { $0 + ($1.isUsed ? weight($1) : 0) } }

    private func weight(_ key: Key) -> Int { unit == .entries ? 1 : key.size }

    func isSampled(_ hash: UInt64) -> Bool {
        UInt32(truncatingIfNeeded: hash) & (Self.modulus - 1) < threshold
    }

    func isSampled(number: Int) -> Bool { keys[number].isUsed }

    /// Calls `perform` with the request of a sampled key, and before it with the removal of an expired value. A deletion of all keys
    /// is a removal of each that was requested since the last one.
    mutating func resolve(_ request: Request, _ perform: (Step) -> Void) {
        guard request.kind != .deleteAll else { return removeAll(perform) }
        let isFirst = numbers[request.hash] == nil
        let number = number(of: request.hash)
        func step(_ action: Step.Action, _ size: Int = 0) {
            perform(Step(size: size, key: number, group: request.group, action: action))
        }
        var key = keys[Int(number)]
        if key.expiry <= request.time {
            step(.remove)
            key.expiry = .max
            key.isRead = false
        }
        if request.size > 0 { key.size = request.size }
        switch request.kind {
        case .read: step(.read, weight(key))
        case .hit:
            if isFirst { step(.prior, weight(key)) }
            step(.read, weight(key))
        case .miss: step(.lookup, weight(key))
        case .write: step(key.isRead ? .update : .write, weight(key))
        case .delete: step(.remove)
        case .expire: if isFirst { step(.prior, weight(key)) }
        case .deleteAll: break
        }
        if let expiry = request.expiry {
            key.expiry = expiry
        } else if !request.isRead {
            key.expiry = .max
        }
        key.isRead = request.isRead
        if !key.isRequested { requested.append(number) }
        key.isRequested = true
        keys[Int(number)] = key
    }

    private mutating func removeAll(_ perform: (Step) -> Void) {
        for number in requested where keys[Int(number)].isUsed {
            keys[Int(number)].expiry = .max
            keys[Int(number)].isRead = false
            keys[Int(number)].isRequested = false
            perform(Step(size: 0, key: number, group: 0, action: .remove))
        }
        requested.removeAll(keepingCapacity: true)
    }

    private mutating func number(of hash: UInt64) -> UInt32 {
        if let number = numbers[hash] { return number }
        let number = free.popLast() ?? UInt32(keys.count)
        if Int(number) == keys.count {
            keys.append(Key(hash: hash))
        } else {
            keys[Int(number)] = Key(hash: hash)
        }
        numbers[hash] = number
        return number
    }

    /// Lowers the threshold, not below `least`, until at most this number of keys is sampled. Returns the dropped numbers.
    mutating func lower(toKeys most: Int, least: UInt32 = 1) -> [Int] {
        let values = keys.filter(\.isUsed).map(\.value).sorted()
        guard most < values.count else { return [] }
        return lower(to: max(least, values[most]))
    }

    /// Drops the keys above a rate, and returns their numbers. A higher rate than the current one has no effect.
    mutating func lower(toRate rate: Double) -> [Int] { lower(to: Self.threshold(rate)) }

    private mutating func lower(to bound: UInt32) -> [Int] {
        guard bound < threshold else { return [] }
        threshold = bound
        return release { $0.value >= bound }
    }

    /// Drops keys without lowering the threshold; their next request adds them again. Frees the numbers of all dropped keys.
    mutating func forget(_ isForgotten: (Int) -> Bool) {
        for number in keys.indices where keys[number].isUsed && isForgotten(number) { release(number) }
        free = keys.indices.filter { !keys[$0].isUsed }.map(UInt32.init)
        requested.removeAll { !keys[Int($0)].isUsed }
    }

    /// Drops keys. Their numbers are reused only after ``forget(_:)``.
    private mutating func release(_ condition: (Key) -> Bool) -> [Int] {
        let released = keys.indices.filter { keys[$0].isUsed && condition(keys[$0]) }
        for number in released { release(number) }
        return released
    }

    private mutating func release(_ number: Int) {
        keys[number].isUsed = false
        numbers[keys[number].hash] = nil
    }
}
