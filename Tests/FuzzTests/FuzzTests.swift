import Foundation
import FuzzTargets
import Testing

/// What the fuzzers do (`make fuzz`), without libFuzzer: inputs from real stores with a few random changes.
@Suite struct FuzzTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let names = FuzzTargets.all.map { $0.name }
    private func target(_ name: String) throws -> any FuzzTarget.Type {
        try #require(FuzzTargets.all.first { $0.name == name })
    }

    private func feed(_ input: [UInt8], to target: inout any FuzzTarget, _ what: String) throws {
        if let objection = try target.run(input) { Issue.record("\(what): \(objection)") }
    }

    /// `VELLUM_TEST_SEED` in the environment replays one.
    @Test(arguments: names) func changedSeeds(name: String) throws {
        let given = ProcessInfo.processInfo.environment["VELLUM_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("fuzz \(name): VELLUM_TEST_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let type = try target(name)
        var target = try type.init()
        let seeds = try type.seeds()
        for input in seeds { try feed(input, to: &target, "\(name), a seed") }
        let onDisk = ["segment", "index", "descriptor"].contains(name)
        for number in 0..<(onDisk ? 150 : 5_000) {
            let input = try Mutator.mutate(#require(seeds.randomElement(using: &random)), using: &random)
            try feed(input, to: &target, "\(name), seed \(seed), input \(number)")
        }
        #expect(!seeds.isEmpty)
    }

    /// Every file in `Inputs/TARGET` once failed; its name says how.
    @Test(arguments: names) func inputsThatOnceFailed(name: String) throws {
        let folder = Self.folder.appendingPathComponent("Inputs/\(name)")
        let files =
            (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        var target = try target(name).init()
        for file in files.sorted(by: { $0.path < $1.path }) {
            try feed(Array(Data(contentsOf: file)), to: &target, file.lastPathComponent)
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers for the same seed on every machine.
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
