import TestSupport
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
