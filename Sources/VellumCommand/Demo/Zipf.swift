/// Ranks by Zipf's law with exponent 1 (Breslau et al., Web Caching and Zipf-like Distributions, 1999).
struct Zipf: Sendable {
    private let sums: [Double]

    /// `count`: the number of ranks, at least 1.
    init(count: Int) {
        var sum = 0.0
        sums = (1...max(1, count)).map { rank in
            sum += 1 / Double(rank)
            return sum
        }
    }

    /// A rank from 0. Cost: O(log count).
    func draw(with generator: inout some RandomNumberGenerator) -> Int {
        let target = Double.random(in: 0..<sums[sums.count - 1], using: &generator)
        return sums.partitioningIndex { $0 > target }
    }
}

/// SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014): reproducible by its seed.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
