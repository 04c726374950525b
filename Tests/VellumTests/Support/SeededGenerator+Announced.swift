import Foundation

extension SeededGenerator {
    /// A generator whose seed is printed. `VELLUM_TEST_SEED` in the environment replays one.
    static func announced(_ name: String) -> SeededGenerator {
        let given = ProcessInfo.processInfo.environment["VELLUM_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("\(name): VELLUM_TEST_SEED=\(seed)")
        return SeededGenerator(seed: seed)
    }
}
