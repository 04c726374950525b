import Foundation
import StorageEngine
import TestSupport
import Testing

/// Limits on addresses, descriptors and file sizes cause errors, never a loss of entries.
@Suite(.oneAtATime) struct ProcessLimitTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func fill(_ folder: TemporaryFolder, archives: Int, entries: Int, bytes: Int) throws {
        let store = try Store.open(at: folder.store)
        for number in 0..<archives {
            let archive = try store.archive(named: "A\(number)", orCreate: .collection)
            for entry in 0..<entries {
                try archive.put(repeated(UInt8(entry & 255), bytes), forKey: "key \(entry)")
            }
            archive.close()
        }
        store.close()
    }

    @Test("prints nothing into store files", arguments: ["<&- >&- 2>&-", ">&- 2>&-", "<&- >&-"])
    func closedStreams(closed: String) throws {
        try fill(folder, archives: 1, entries: 50, bytes: 20)
        let worker = try ChildProcess(
            "/bin/sh",
            [
                "-c", "exec \"$0\" write \"$1\" A0 1 \(closed)", ChildProcess.program(named: "StoreWorker"),
                folder.store,
            ])
        // It prints what it is about to do, and ends when it can't.
        #expect(holds(within: 20) { worker.hasEnded() })
        #expect(worker.status == 3 << 8)
        let archive = try folder.archive("A0")
        #expect(try archive.entries().count == 50)
        #expect(try archive.check().clean)
    }

    private func run(
        _ folder: TemporaryFolder, _ limit: String, _ amount: Int, archives: Int, bytes: Int = 20
    ) async throws -> [String] {
        // One malloc arena: without addresses for a second one, the runtime would end the process.
        let worker = try Worker(
            ["limited", folder.store, "A", String(bytes), limit, String(amount), String(archives)],
            in: folder,
            variables: ["MALLOC_ARENA_MAX": "1"])
        let (status, lines) = try await worker.finish()
        #expect(status == 0, "\(limit) \(amount): \(lines.suffix(3))")
        #expect(lines.last == "end", "\(limit) \(amount): \(lines.suffix(3))")
        return lines
    }

    /// Expects all earlier and all acknowledged entries.
    private func expectWhole(
        _ folder: TemporaryFolder, archive: Int = 0, entries: Int, stored: Set<String>, _ comment: String
    ) throws {
        let archive = try folder.archive("A\(archive)")
        defer { archive.close() }
        for entry in stride(from: 0, to: entries, by: 97) {
            #expect(try archive.peek("key \(entry)")?.first == UInt8(entry & 255), "\(comment): key \(entry)")
        }
        for key in stored { #expect(try archive.peek(key) != nil, "\(comment): \(key)") }
        #expect(try archive.entries().count >= entries + stored.count, "\(comment)")
        #expect(try archive.check().problems == [], "\(comment)")
    }

    private func openMany(_ count: Int) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        try fill(folder, archives: count, entries: 2, bytes: 100)
        let lines = try await run(folder, "descriptors", 2 * count + 100, archives: count)
        #expect(lines.contains("opened \(count)"), "\(lines.suffix(3))")
        #expect(lines.count(where: { $0.hasPrefix("stored") }) == count)
        // Index, one segment and the table of segments: some 600 KiB of addresses each.
        let limited = try await run(folder, "addresses", count * 700 << 10, archives: count)
        #expect(limited.contains("opened \(count)"), "\(limited.suffix(3))")
        #expect(limited.count(where: { $0 == "read 4 of 4" }) == count)
    }

    @Test("a process opens 60 archives") func manyArchives() async throws { try await openMany(60) }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak"))
    func thousandArchivesSoak() async throws { try await openMany(1500) }

    @Test("reports the descriptor limit and loses no entry") func descriptorLimit() async throws {
        try fill(folder, archives: 20, entries: 2, bytes: 100)
        let lines = try await run(folder, "descriptors", 30, archives: 20)
        let error = try #require(lines.first { $0.hasPrefix("error") })
        #expect(error.contains("ulimit -n"), "\(error)")
        for number in 0..<20 {
            let stored = lines.contains("stored A\(number)") ? ["limited 30"] : []
            try expectWhole(folder, archive: number, entries: 2, stored: Set(stored), "archive \(number)")
        }
    }

    @Test("reports the address limit and loses no entry", arguments: [false, true])
    func addressesThatAreNotGrantedLoseNothing(rebuilding: Bool) async throws {
        try fill(folder, archives: 1, entries: 2000, bytes: 1500)
        var stored: Set<String> = []
        var errors: [String] = []
        for kibibytes in [0, 200, 700, 1200, 2000, 3000, 4000, 8000] {
            if rebuilding { try folder.removeIndex("A0") }
            let amount = kibibytes << 10
            let lines = try await run(folder, "addresses", amount, archives: 1)
            if lines.contains("stored A0") { stored.insert("limited \(amount)") }
            for line in lines where line.hasPrefix("read") {
                let words = line.split(separator: " ")
                #expect(words[1] == words[3] && Int(words[3]) ?? 0 > 2000, "\(kibibytes) KiB: \(line)")
            }
            errors += lines.filter { $0.hasPrefix("error") }
            try expectWhole(folder, entries: 2000, stored: stored, "\(kibibytes) KiB")
        }
        #expect(errors.contains { $0.contains("ulimit -v") }, "\(errors)")
        #expect(!stored.isEmpty && errors.allSatisfy { $0.contains("ulimit -v") }, "\(errors)")
    }

    @Test("reports the file size limit") func fileSizeLimit() async throws {
        try fill(folder, archives: 1, entries: 100, bytes: 500)
        for (kibibytes, bytes) in [(100, 200_000), (30, 5000), (1, 100)] {
            let lines = try await run(folder, "fileBytes", kibibytes << 10, archives: 1, bytes: bytes)
            #expect(!lines.contains("stored A0") || bytes == 5000 || bytes == 100, "\(lines)")
            if bytes == 200_000 {
                #expect(lines.contains { $0.hasPrefix("error") && $0.contains("ulimit -f") }, "\(lines)")
            }
            let stored = lines.contains("stored A0") ? ["limited \(kibibytes << 10)"] : []
            try expectWhole(folder, entries: 100, stored: Set(stored), "\(kibibytes) KiB")
        }
    }
}
