import Foundation
import ServerInspection
import ServerSupport
import StorageEngine
import StoreInspection
import Testing
import TestSupport
import ValkeyWire

extension ServerChangesTests {
    @Test("undo reports missing and unreadable copies")
    func lostCopies() async throws {
        let served = try await Served()
        let keys = try served.fill(keys: 150)
        let carried = try served.changes().carryOut(.delete, on: try served.targets(keys))
        let store = try Store.open(at: served.folder)
        let archive = try store.archive(named: try #require(try store.archiveNames().first))
        let copies = try archive.keys().keys.filter { $0.contains("/") }
        #expect(copies.count == 150)
        func ends(_ numbers: [Int]) -> [String] {
            copies.filter { key in numbers.contains { key.hasSuffix("/\($0)") } }
        }
        for key in ends([0, 70, 149]) { try archive.delete(key) }
        for key in ends([1, 71]) { try archive.put(Array("nonsense".utf8), forKey: key) }
        #expect(try served.changes().reversible().first?.entries == 150)
        let undone = try served.undo(carried)
        #expect(undone.outcome.entries == 145 && undone.outcome.isComplete)
        #expect(undone.stopped?.hasPrefix("5 copies can no longer be read") == true)
        #expect(try served.ask("DBSIZE").number == 145)
        #expect(try served.changes().reversible().isEmpty)
    }

    /// Changes a bit at the last place of some bytes in the undo archive.
    private func damage(_ bytes: some StringProtocol, in served: Served) throws {
        for file in try FileManager.default.subpathsOfDirectory(atPath: served.folder)
        where file.hasSuffix(".segment") {
            let url = URL(filePath: served.folder).appending(path: file)
            let data = try Data(contentsOf: url)
            guard let place = data.range(of: Data(bytes.utf8), options: .backwards)?.lowerBound else {
                continue
            }
            let handle = try FileHandle(forUpdating: url)
            try handle.seek(toOffset: UInt64(place))
            try handle.write(contentsOf: [data[place] ^ 4])
            return try handle.close()
        }
        Issue.record("no \(bytes) in the undo archive")
    }

    @Test("undo reports damaged copies with their keys, and restores the others")
    func damagedCopies() async throws {
        let served = try await Served()
        let keys = try served.fill(keys: 20)
        for key in keys { try served.ask("SET", key, "value of \(key).") }
        let carried = try served.changes().carryOut(.delete, on: try served.targets(keys))
        for key in ["key 3", "key 11"] { try damage("value of \(key).", in: served) }
        #expect(try served.changes().reversible().first?.entries == 20)
        let undone = try served.undo(carried)
        #expect(undone.outcome.entries == 18 && undone.outcome.isComplete)
        #expect(undone.stopped?.hasPrefix("2 copies can no longer be read") == true)
        for key in ["key 3", "key 11"] { #expect(undone.stopped?.contains(key) == true) }
        #expect(try served.ask("DBSIZE").number == 18)
    }

    @Test("the error for a damaged undo record has the command that repairs it")
    func damagedRecords() async throws {
        let served = try await Served()
        let carried = try served.changes().carryOut(.delete, on: try served.targets(served.fill(keys: 3)))
        try damage(try served.connection.capabilities().run, in: served)
        let error = #expect(throws: SourceError.self) { try served.undo(carried) }
        let command = "vellum --store \(ShellWord.quoted(served.folder)) check --repair"
        #expect(error?.description.contains(command) == true)
        #expect(throws: SourceError.self) { try served.changes().reversible() }
    }
}
