import Foundation

/// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014): the same numbers for
/// the same seed on every machine.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// A generator whose seed is printed: a new one, or that of `VELLUM_TEST_SEED` in the environment.
    package static func announced(_ name: String) -> SeededGenerator {
        let given = ProcessInfo.processInfo.environment["VELLUM_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("\(name): VELLUM_TEST_SEED=\(seed)")
        return SeededGenerator(seed: seed)
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
