import TestSupport
import Foundation
import FuzzTargets
import Testing

/// Runs the fuzz targets without libFuzzer: inputs from real stores with a few random changes.
@Suite struct FuzzTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let names = FuzzTargets.all.map { $0.name }
    private func target(_ name: String) throws -> any FuzzTarget.Type {
        try #require(FuzzTargets.all.first { $0.name == name })
    }

    private func feed(_ input: [UInt8], to target: inout any FuzzTarget, _ what: String) throws {
        if let failure = try target.run(input) { Issue.record("\(what): \(failure)") }
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
        for number in 0..<(name == FramesTarget.name ? 12 : onDisk ? 150 : 5_000) {
            let input = try Mutator.mutate(#require(seeds.randomElement(using: &random)), using: &random)
            try feed(input, to: &target, "\(name), seed \(seed), input \(number)")
        }
        #expect(!seeds.isEmpty)
    }

    /// Archives of frames with valid checksums and extreme fields, a new one each time.
    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak")) func framesSoak() throws {
        var random = SeededGenerator(seed: Soak.seed)
        var target: any FuzzTarget = try FramesTarget()
        let end = Soak.end(share: 0.03)
        var count = 0
        while Date() < end {
            let size = Int.random(in: 1...4_000, using: &random)
            let input = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
            if let failure = try target.run(input) {
                let file = FileManager.default.temporaryDirectory
                    .appendingPathComponent("vellum-frames-\(Soak.seed)-\(count)")
                try Data(input).write(to: file)
                Issue.record("\(file.path): \(failure)")
            }
            count += 1
        }
        #expect(count > 0)
        var figures = Figures("R14 frames with absurd fields")
        figures.add("seed", text: "\(Soak.seed)")
        figures.add("archives", count)
        figures.report()
    }

    /// Every file in `Inputs/TARGET` failed once; its name describes how.
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
