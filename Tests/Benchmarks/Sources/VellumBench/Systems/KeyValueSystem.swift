/// Something that stores values under keys. What is said of one operation is inlined into what does a whole batch, so that
/// calling through this protocol costs the operations nothing.
protocol KeyValueSystem: AnyObject {
    var name: String { get }
    /// Stores the value of the key at a place of the batch, in an operation of its own that survives the death of the process.
    func put(_ batch: KeyBatch, _ place: Int, _ values: ValuePool, generation: Int) throws
    /// Reads the value of the key at a place of the batch, in an operation of its own, and returns its digest.
    func read(_ batch: KeyBatch, _ place: Int) throws -> UInt64
    /// Reads the values of so many keys that follow the key at a place of the batch, by their bytes. The sum of their digests.
    func scan(_ batch: KeyBatch, _ place: Int, count: Int) throws -> UInt64
    /// Stores many values in the way that is fastest, before the clock starts.
    func load(_ batch: KeyBatch, _ values: ValuePool, generation: Int) throws
    /// The same for another thread.
    func another() throws -> any KeyValueSystem
    func close()

    func put(_ batch: KeyBatch, _ values: ValuePool, generation: Int) throws
    func read(_ batch: KeyBatch) throws -> UInt64
    func perform(_ mix: MixedBatch, _ values: ValuePool, generation: Int) throws -> UInt64
    /// What each of them took, in nanoseconds.
    func times(of mix: MixedBatch, _ values: ValuePool, generation: Int) throws -> Latencies
}

extension KeyValueSystem {
    func scan(_ batch: KeyBatch, _ place: Int, count: Int) throws -> UInt64 {
        throw BenchmarkError("\(name) has no order of keys")
    }

    func load(_ batch: KeyBatch, _ values: ValuePool, generation: Int) throws {
        try put(batch, values, generation: generation)
    }

    func another() throws -> any KeyValueSystem { throw BenchmarkError("\(name) is for one thread") }

    /// A value for each key.
    func put(_ batch: KeyBatch, _ values: ValuePool, generation: Int) throws {
        for place in 0..<batch.count { try put(batch, place, values, generation: generation) }
    }

    /// The value of each key; the sum of their digests.
    func read(_ batch: KeyBatch) throws -> UInt64 {
        var sum: UInt64 = 0
        for place in 0..<batch.count { sum &+= try read(batch, place) }
        return sum
    }

    /// What is to be done with each key; the sum of the digests of what was read.
    func perform(_ mix: MixedBatch, _ values: ValuePool, generation: Int) throws -> UInt64 {
        var sum: UInt64 = 0
        for place in 0..<mix.keys.count { sum &+= try perform(mix, place, values, generation: generation) }
        return sum
    }

    @inline(__always)
    func perform(
        _ mix: MixedBatch, _ place: Int, _ values: ValuePool, generation: Int
    ) throws -> UInt64 {
        switch mix.operations[place] {
        case .read: return try read(mix.keys, place)
        case .put:
            try put(mix.keys, place, values, generation: generation)
            return 0
        case .readThenPut:
            let sum = try read(mix.keys, place)
            try put(mix.keys, place, values, generation: generation)
            return sum
        case .scan(let count): return try scan(mix.keys, place, count: Int(count))
        }
    }

    func times(of mix: MixedBatch, _ values: ValuePool, generation: Int) throws -> Latencies {
        var times = Latencies(capacity: mix.keys.count)
        for place in 0..<mix.keys.count {
            let start = Clock.now()
            _ = try perform(mix, place, values, generation: generation)
            times.add(Clock.now() - start)
        }
        return times
    }
}

/// Keys, and what is done with each of them in turn.
struct MixedBatch {
    enum Operation {
        case read, put, readThenPut
        /// So many of those that follow.
        case scan(UInt8)
    }

    let keys: KeyBatch
    let operations: [Operation]
}

extension [any KeyValueSystem] {
    func close() { for system in self { system.close() } }
}
