import Foundation
import StorageEngine
import TestSupport
import Testing

/// Archives on full file systems, mounted for one process. Real ones allocate partially and free blocks late.
@Suite(.oneAtATime) struct SmallDiskTests {
    static let kinds = ["tmpfs", "ext4"]

    /// Output of the worker, grouped by first word. Cancels the test if no such file system can be mounted.
    private func live(_ scenario: String, on kind: String) async throws -> [String: [String]] {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.store, withIntermediateDirectories: true)
        let worker = try folder.worker("smallDisk", kind, "0", scenario)
        let (status, lines) = try await worker.finish()
        if lines == ["unsupported"] {
            try Test.cancel("no small \(kind) may be mounted here: \(scenario) was not tested on one")
        }
        #expect(status == 0 && lines.last == "done", "\(scenario) on \(kind): \(lines)")
        #expect(lines.filter { $0.hasPrefix("!") } == [], "\(scenario) on \(kind)")
        return Dictionary(grouping: lines) { $0.split(separator: " ").first.map(String.init) ?? "" }
            .mapValues { $0.map { String($0.drop { $0 != " " }.dropFirst()) } }
    }

    @Test("stores six times the disk's space without a refusal", arguments: kinds, ["cache", "log"])
    func staysFull(kind: String, scenario: String) async throws {
        let said = try await live(scenario, on: kind)
        #expect(said["refused"] == ["0"], "\(kind), \(scenario): \(said)")
        #expect(said["causes"]?.first?.contains("noSpace") == true, "\(said)")
        let holds = said["holds"]?.compactMap { Int($0) } ?? []
        #expect(holds.count == 2 && holds[0] == holds[1] && holds[0] > 300, "\(said)")
    }

    @Test("a collection on a small disk refuses puts and keeps its entries", arguments: kinds)
    func collection(kind: String) async throws {
        let said = try await live("collection", on: kind)
        let stored = said["stored"]?.first.flatMap { Int($0) } ?? 0
        #expect(said["refusal"] == ["noSpace"] && stored > 500)
        #expect(said["holds"] == ["\(stored)", "\(stored - 20)", "1"], "\(said)")
    }

    @Test("deletes all planned entries on a full disk and undoes it", arguments: kinds)
    func removesToTheEnd(kind: String) async throws {
        let said = try await live("remove", on: kind)
        let planned = said["planned"]?.first
        #expect(said["undone"] == ["300"], "\(said)")
        #expect(planned != nil && said["deleted"]?.first == planned, "\(said)")
        #expect(said["final"] == ["false"], "\(said)")
        #expect(said["kept"] == ["true"], "\(said)")
        #expect(said["holds"]?.count == 2 && said["holds"]?.first == said["holds"]?.last, "\(said)")
    }

    @Test("a process that keeps the entries opens a cache without space for an index", arguments: kinds)
    func opensWithoutSpaceForAnIndex(kind: String) async throws {
        let said = try await live("unneeded", on: kind)
        #expect(said["deletes"] == ["false"] && said["holds"]?.first == "5000", "\(said)")
        #expect(said["holds"]?.count == 2, "\(said)")
    }

    @Test("opens on a full disk without a usable index", arguments: kinds, ["stale", "removed"])
    func withoutAUsableIndex(kind: String, scenario: String) async throws {
        let said = try await live(scenario, on: kind)
        let entries = said["entries"]?.compactMap { Int($0) } ?? []
        #expect(entries.count == 3 && entries[1] == 1_200 && entries.allSatisfy { $0 > 500 }, "\(said)")
        #expect(said["deletes"] == ["20", "20"], "\(said)")
        #expect(said["repaired"] == ["0", "0", "0"], "\(said)")
    }
}
