import Foundation
import StorageEngine
import TestSupport
import Testing

/// R14: operations on an archive of n hostile bytes cost at most 1 µs × n + 100 ms of processor time, and 64 MiB of
/// memory beyond the files.
@Suite(.serialized) struct AdversarialCostTests {
    /// Allocated bytes of the files below an archive's store.
    private static func bytes(of archive: HandmadeArchive) -> Int {
        let files = FileManager.default.enumerator(atPath: archive.folder.path)?.allObjects ?? []
        return files.reduce(0) { sum, name in
            var facts = stat()
            guard lstat(archive.folder.path + "/\(name)", &facts) == 0 else { return sum }
            return sum + Int(facts.st_blocks) * 512
        }
    }

    private func measure(
        _ costs: Costs, _ name: String, _ archive: HandmadeArchive, _ what: String, _ body: () throws -> Void
    ) {
        costs.measure(name, bytes: Self.bytes(of: archive), what, body)
    }

    /// Segments of `size` bytes in all, and sometimes a file that is mostly a hole.
    private func make(seed: UInt64, size: Int) throws -> (archive: HandmadeArchive, what: String) {
        var random = SeededGenerator(seed: seed)
        let kind: UInt8 = [2, 1, 3, 2][Int(seed % 4)]
        let archive = try HandmadeArchive(
            kind: kind, limit: [1_000, 100_000, 100 << 30].randomElement(using: &random) ?? 0)
        let count = [1, 1, 2, 5, 40].randomElement(using: &random) ?? 1
        var used: [AdversarialSegment.Pattern] = []
        for number in 1...UInt32(count) {
            var segment = AdversarialSegment(number, seed: random.next())
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                guard let pattern = AdversarialSegment.Pattern.allCases.randomElement(using: &random) else {
                    continue
                }
                used.append(pattern)
                segment.append(pattern, size: size / count / 2 & ~7)
            }
            segment.damage()
            try archive.write(segment.bytes + repeated(0, 4096), HandmadeArchive.segmentName(number))
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            let name = HandmadeArchive.segmentName(UInt32(count + 2))
            try archive.write(HandmadeArchive.header(UInt32(count + 2)), name)
            truncate(archive.folder.archivePath(HandmadeArchive.name, name), 1 << 36)
        }
        return (archive, "seed \(seed), size \(size), kind \(kind), \(used.prefix(6))")
    }

    /// Measures each operation on an archive.
    private func use(_ archive: HandmadeArchive, _ what: String, _ costs: Costs) throws {
        let name = HandmadeArchive.name
        for mode in [AccessMode.readOnly, .readWrite] {
            let isWriter = mode == .readWrite
            if isWriter { try? archive.folder.removeIndex(name) }
            var opened: Archive?
            measure(costs, isWriter ? "open" : "observe", archive, what) { opened = try archive.open(mode) }
            guard let opened else { continue }
            defer { opened.close() }
            look(opened, archive, what, costs)
            guard isWriter else { continue }
            guard try opened.configuration().kind != .log else {
                measure(costs, "append", archive, what) {
                    for _ in 0..<10 { _ = try opened.append([1]) }
                }
                continue
            }
            measure(costs, "change", archive, what) {
                for number in 0..<10 { try opened.put([1, 2, 3], forKey: "key \(number)") }
                try opened.delete("key 3")
                _ = try opened.undo()
                try opened.removeExpired()
            }
            measure(costs, "undo all", archive, what) {
                _ = try opened.deleteAllReversibly()
                _ = try opened.undo()
            }
        }
        measure(costs, "backup", archive, what) {
            let store = try Store.open(at: archive.folder.store, mode: .readOnly)
            defer { store.close() }
            _ = try store.backUp(to: archive.folder.path + "/backup")
        }
        measure(costs, "repair", archive, what) {
            let store = try Store.open(at: archive.folder.store)
            defer { store.close() }
            _ = try store.repair(archiveNamed: name)
        }
    }

    private func look(_ opened: Archive, _ archive: HandmadeArchive, _ what: String, _ costs: Costs) {
        measure(costs, "check", archive, what) { _ = try opened.check() }
        measure(costs, "look up", archive, what) {
            for number in 0..<100 { _ = try opened.peek("key \(number)") }
        }
        measure(costs, "keys", archive, what) { costs.entries += try opened.entries().keys.count }
        measure(costs, "scan", archive, what) {
            let scan = try opened.scan(.recency)
            while try scan.advance() { _ = try? scan.read() }
        }
        measure(costs, "snapshot", archive, what) { _ = try opened.snapshot().numbersByKey() }
        guard (try? opened.configuration().kind) == .log else { return }
        measure(costs, "messages", archive, what) {
            costs.entries += try opened.messages(most: .max).messages.count
        }
    }

    @Test("small hostile archives cost at most five times the bound") func smallArchives() throws {
        let costs = Costs(clock: CLOCK_THREAD_CPUTIME_ID, measuresMemory: false)
        for seed in UInt64(1)...12 {
            let (archive, what) = try make(seed: seed, size: 150_000)
            try use(archive, what, costs)
        }
        #expect(costs.worst.count > 12 && costs.entries > 1_000)
        for (name, worst) in costs.worst { #expect(worst.time < 5, "\(name): \(worst.what)") }
    }

    /// For an idle machine. `VELLUM_SOAK_BYTES`: size of the largest archive.
    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak"))
    func adversarialSoak() throws {
        let largest = ProcessInfo.processInfo.environment["VELLUM_SOAK_BYTES"].flatMap(Int.init) ?? 8 << 20
        let end = Soak.end(share: 0.1)
        let costs = Costs(clock: CLOCK_PROCESS_CPUTIME_ID, measuresMemory: true)
        var seed = Soak.seed
        var count = 0
        // VELLUM_SOAK_TELLS prints each archive's seed and size first, since a trap prints nothing.
        let isTold = ProcessInfo.processInfo.environment["VELLUM_SOAK_TELLS"] != nil
        print("R14 adversarial bytes: seed \(seed)")
        while Date() < end {
            let size = max(4_096, largest >> (count % 6))
            let (archive, what) = try make(seed: seed, size: size)
            if isTold { print(what) }
            try use(archive, what, costs)
            seed &+= 1
            count += 1
        }
        var figures = Figures("R14 adversarial bytes")
        figures.add("seed", text: "\(Soak.seed)")
        figures.add("archives", count)
        figures.add("entries found", costs.entries)
        for (name, worst) in costs.worst.sorted(by: { $0.value.time > $1.value.time }) {
            figures.add(name, ratio: worst.time)
            print("\(name): \(worst.what)")
        }
        figures.add("most memory", ratio: costs.worst.values.map(\.memory).max() ?? 0)
        figures.report()
        for (name, worst) in costs.worst {
            #expect(worst.time <= 1, "\(name): \(worst.what)")
            #expect(worst.memory <= 1, "\(name)")
        }
    }
}
