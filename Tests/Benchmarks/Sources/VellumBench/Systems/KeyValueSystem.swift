/// A system that stores values under keys. Single operations are inlined into those for batches, so that calls through this
/// protocol cost nothing.
protocol KeyValueSystem: AnyObject {
    var name: String { get }
    /// Stores the value of the key at an index of the batch in a separate operation, which survives a crash of the process.
    func put(_ batch: KeyBatch, _ place: Int, _ values: ValuePool, generation: Int) throws
    /// Reads the value of the key at an index of the batch in a separate operation, and returns its digest.
    func read(_ batch: KeyBatch, _ place: Int) throws -> UInt64
    /// Reads the values of the next `count` keys in byte order after the key at an index; returns the sum of their digests.
    func scan(_ batch: KeyBatch, _ place: Int, count: Int) throws -> UInt64
    /// Stores many values in the fastest way, before the clock starts.
    func load(_ batch: KeyBatch, _ values: ValuePool, generation: Int) throws
    /// A handle for another thread.
    func another() throws -> any KeyValueSystem
    func close()

    func put(_ batch: KeyBatch, _ values: ValuePool, generation: Int) throws
    func read(_ batch: KeyBatch) throws -> UInt64
    func perform(_ mix: MixedBatch, _ values: ValuePool, generation: Int) throws -> UInt64
    /// The duration of each operation in nanoseconds.
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

    func put(_ batch: KeyBatch, _ values: ValuePool, generation: Int) throws {
        for place in 0..<batch.count { try put(batch, place, values, generation: generation) }
    }

    /// Reads the value of each key; returns the sum of their digests.
    func read(_ batch: KeyBatch) throws -> UInt64 {
        var sum: UInt64 = 0
        for place in 0..<batch.count { sum &+= try read(batch, place) }
        return sum
    }

    /// Executes the operation of each key; returns the sum of the digests of the read values.
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

/// Keys, and the operation for each.
struct MixedBatch {
    enum Operation {
        case read, put, readThenPut
        /// Reads a number of the following keys.
        case scan(UInt8)
    }

    let keys: KeyBatch
    let operations: [Operation]
}

extension [any KeyValueSystem] {
    func close() { for system in self { system.close() } }
}
