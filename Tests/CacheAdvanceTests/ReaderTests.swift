import CacheAdvance
import Foundation
import TestSupport
import Testing

/// Exchanges files in both directions with a program that was written from the format's description alone.
@Suite struct ReaderTests {
    static let python = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":")
        .map { $0 + "/python3" }.first(where: FileManager.default.isExecutableFile(atPath:))

    private func other(_ arguments: [String]) throws -> [[Data]?] {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Reader/ring.py").path
        let python = try #require(ReaderTests.python)
        let outcome = try ChildProcess.run(String(python), [script] + arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
            $0 == "damaged" ? nil : $0.split(separator: " ").map { bytes(ofHex: $0) }
        }
    }

    private func bytes(ofHex text: Substring) -> Data {
        let digits = text.utf8.map { $0 < 58 ? $0 - 48 : $0 - 87 }
        return Data(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    private func message(upTo most: Int, using random: inout SeededGenerator) -> Data {
        Data(
            (0..<Int.random(in: 1...most, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            })
    }

    /// `count` files with random settings, message sizes and numbers of turns, written here.
    private func written(_ count: Int, _ random: inout SeededGenerator) throws {
        let folder = try Folder()
        var expected: [[Data]] = []
        var paths: [String] = []
        for _ in 0..<count {
            let file = try folder.file()
            let maximum = UInt64.random(
                in: 70...[90, 300, 2_000].randomElement(using: &random)!, using: &random)
            let cache = try plainCache(file, maximum, overwrites: .random(using: &random))
            let most = max(1, Int(maximum - 68) / [1, 2, 5, 20].randomElement(using: &random)!)
            var all: [Data] = []
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                let message = message(upTo: most, using: &random)
                if (try? cache.append(message: message)) != nil { all.append(message) }
            }
            let kept = try cache.messages()
            #expect(kept == Array(all.suffix(kept.count)) && kept.isEmpty == all.isEmpty)
            expected.append(kept)
            paths.append(file.path)
        }
        #expect(try other(["read"] + paths) == expected)
    }

    /// `count` files that the other program wrote; then both append to them.
    private func read(_ count: Int, _ random: inout SeededGenerator) throws {
        let folder = try Folder()
        let seed = UInt32.random(in: 0 ... .max, using: &random)
        let expected = try other(["write", folder.url.path, String(seed), String(count)])
        #expect(expected.count == count)
        var paths: [String] = []
        var later: [[Data]] = []
        for (number, messages) in expected.enumerated() {
            let file = folder.url.appendingPathComponent(String(number))
            // A maximum without space for a header stores no settings.
            let found = try plainCache(file, 0, overwrites: false).messages()
            #expect(found == messages, "seed \(seed), file \(number)")
            let header = [UInt8](try Data(contentsOf: file))
            paths.append(file.path)
            guard header.count >= 64 else {
                later.append([])
                continue
            }
            let maximum = header[1..<9].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let cache = try plainCache(file, maximum, overwrites: header[9] == 1)
            for _ in 0..<3 {
                try? cache.append(message: message(upTo: max(1, Int(maximum - 68) / 3), using: &random))
            }
            later.append(try cache.messages())
        }
        #expect(try other(["read"] + paths) == later)
    }

    @Test(
        "an independent reader and writer agree on 1,000 files", .enabled(if: python != nil, "needs python3"))
    func thousandFiles() throws {
        var random = SeededGenerator.announced("ring files")
        try written(1_000, &random)
        try read(1_000, &random)
    }

    @Test(.enabled(if: python != nil && Soak.seconds > 0, "runs in a soak")) func filesSoak() throws {
        var random = SeededGenerator(seed: Soak.seed)
        let end = Soak.end(share: 0.02)
        var files = 0
        repeat {
            try written(1_000, &random)
            try read(1_000, &random)
            files += 2_000
        } while Date() < end
        Figures("ring files both ways", ["files": files]).report()
    }
}
