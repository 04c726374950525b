import Foundation
import StorageEngine
import TestSupport
import Testing

/// The marker of a store: other versions differ from damage, and damage can be repaired.
@Suite struct MarkerTests {
    private static let right = "Vellum store, format 1\n"

    private func filled() throws -> (folder: TemporaryFolder, marker: URL) {
        let folder = try TemporaryFolder(inMemory: true)
        let store = try Store.open(at: folder.store)
        try store.archive(named: "A", orCreate: .cache()).put([1], forKey: "a")
        store.close()
        return (folder, URL(fileURLWithPath: folder.store + "/vellum-store"))
    }

    private func refusal(_ folder: TemporaryFolder, _ mode: AccessMode) -> StorageError? {
        do throws(StorageError) {
            try Store.open(at: folder.store, mode: mode).close()
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "names and repairs a damaged marker",
        arguments: [
            right + "garbage", "Vellum store, format 1\r\n", "Vellum store, format 1", "",
            "Vellum store, format \n",
            "Vellum store, format 01\n", "Vellum store, format 99999999999\n", "hello\n", nil,
        ])
    func damagedMarker(text: String?) throws {
        let (folder, marker) = try filled()
        if let text {
            try Data(text.utf8).write(to: marker)
        } else {
            try FileManager.default.removeItem(at: marker)
        }
        for mode in [AccessMode.readOnly, .readWrite] {
            let error = try #require(refusal(folder, mode))
            guard case .notAStore(_, let reason) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(reason.contains("check --repair"))
            if text != nil { #expect(reason.contains("\"Vellum store, format 1\"")) }
        }
        let line = try #require(try Store.repairMarker(at: folder.store))
        #expect(line.contains("vellum-store: rewritten"))
        #expect(try String(contentsOf: marker, encoding: .utf8) == MarkerTests.right)
        if let text {
            let kept = try String(contentsOfFile: marker.path + ".damaged", encoding: .utf8)
            #expect(kept == text && line.contains("vellum-store.damaged"))
        }
        let store = try Store.open(at: folder.store)
        defer { store.close() }
        #expect(try store.archive(named: "A").peek("a") == [1])
        #expect(try Store.repairMarker(at: folder.store) == nil)
    }

    @Test("leaves a store of another version unchanged") func otherVersion() throws {
        let (folder, marker) = try filled()
        try Data("Vellum store, format 2\n".utf8).write(to: marker)
        let error = StorageError.unsupportedVersion(path: marker.path, found: 2, supported: 1)
        #expect(refusal(folder, .readOnly) == error)
        #expect(throws: error) { try Store.repairMarker(at: folder.store) }
        #expect(try String(contentsOf: marker, encoding: .utf8) == "Vellum store, format 2\n")
    }

    @Test("a link isn't a marker") func linkedMarker() throws {
        let (folder, marker) = try filled()
        try FileManager.default.moveItem(atPath: marker.path, toPath: folder.path + "/elsewhere")
        try FileManager.default.createSymbolicLink(
            atPath: marker.path, withDestinationPath: folder.path + "/elsewhere")
        #expect(refusal(folder, .readOnly)?.description.contains("check --repair") == true)
        #expect(try Store.repairMarker(at: folder.store) != nil)
        #expect(refusal(folder, .readWrite) == nil)
    }

    @Test("leaves folders without archives unchanged") func otherFolders() throws {
        let folder = try TemporaryFolder(inMemory: true)
        for name in ["file", "vellum-store"] {
            try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.path + "/" + name))
            try FileManager.default.createDirectory(
                atPath: folder.path + "/empty.archive", withIntermediateDirectories: true)
            #expect { try Store.repairMarker(at: folder.path) } throws: { $0.isNotAStore }
        }
        #expect(try String(contentsOfFile: folder.path + "/vellum-store", encoding: .utf8) == "hello")
    }

    @Test("an opening during a creation finds a store or none", arguments: [AccessMode.readOnly, .readWrite])
    func openingDuringCreation(mode: AccessMode) async throws {
        for round in 0..<150 {
            let folder = try TemporaryFolder(inMemory: true)
            let path = folder.store
            let failures = Guarded<[String]>([])
            try await onThreads(3) { thread in
                do throws(StorageError) {
                    guard thread > 0 else {
                        let store = try Store.open(at: path)
                        _ = try store.archive(named: "A", orCreate: .cache())
                        return
                    }
                    // Until it exists, or its creator has failed.
                    for _ in 0..<100_000 {
                        do throws(StorageError) {
                            return _ = try Store.open(at: path, mode: mode, createIfMissing: false)
                        } catch {
                            guard error == .storeNotFound(path: path) else { throw error }
                        }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [], "round \(round)")
        }
    }

    @Test("removes files of killed creators") func leftoverFiles() throws {
        let folder = try TemporaryFolder(inMemory: true)
        try FileManager.default.createDirectory(atPath: folder.store, withIntermediateDirectories: false)
        for name in ["1", "0123456789abcdef", "doorbell"] {
            try Data().write(to: URL(fileURLWithPath: folder.store + "/vellum-store." + name))
        }
        try Store.open(at: folder.store).close()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.store).sorted()
        #expect(names == ["vellum-store", "vellum-store.doorbell"])
    }

    @Test("creates no archives in a store without a marker", arguments: [false, true])
    func noMarker(hasArchive: Bool) throws {
        let (folder, marker) = try filled()
        let store = try Store.open(at: folder.store)
        defer { store.close() }
        if !hasArchive { try FileManager.default.removeItem(atPath: folder.store + "/A.archive") }
        try FileManager.default.removeItem(at: marker)
        #expect {
            try store.archive(named: "B", orCreate: .cache())
        } throws: { error in
            guard hasArchive else { return error as? StorageError == .storeNotFound(path: folder.store) }
            guard case .notAStore(_, let reason)? = error as? StorageError else { return false }
            return reason.contains("check --repair")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.store + "/B.archive"))
    }

    @Test("recreating a store repairs its marker") func recreatedMarker() throws {
        let (folder, marker) = try filled()
        try FileManager.default.removeItem(at: marker)
        var remarks: [String] = []
        #expect(throws: StorageError.self) {
            try Store.reopen(at: folder.store, createIfMissing: false) { remarks.append($0) }
        }
        #expect(remarks.isEmpty)
        let store = try Store.reopen(at: folder.store) { remarks.append($0) }
        #expect(try store.archive(named: "A").peek("a") == [1])
        #expect(remarks.count == 1 && remarks[0].contains("rewritten"))
        // A damaged one may belong to another format.
        try Data("hello\n".utf8).write(to: marker)
        #expect(throws: StorageError.self) { try Store.reopen(at: folder.store) { remarks.append($0) } }
        #expect(remarks.count == 1)
    }

    @Test("a removed store isn't empty") func removedStore() throws {
        let (folder, _) = try filled()
        let store = try Store.open(at: folder.store, mode: .readOnly)
        try removeFolderInUse(folder.store)
        #expect(throws: StorageError.storeNotFound(path: folder.store)) { try store.archiveNames() }
        try Store.open(at: folder.store).close()
        #expect(throws: StorageError.storeNotFound(path: folder.store)) { try store.archiveNames() }
    }

    @Test("all concurrent creators get the store") func concurrentCreators() async throws {
        for round in 0..<150 {
            let folder = try TemporaryFolder(inMemory: true)
            let path = folder.store
            let failures = Guarded<[String]>([])
            try await onThreads(4) { thread in
                do {
                    let store = try Store.open(at: path)
                    _ = try store.archive(named: "A\(thread)", orCreate: .cache())
                    store.close()
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [], "round \(round)")
            #expect(try Store.open(at: path).archiveNames().count == 4)
        }
    }

    @Test(
        "an error describes the damage",
        arguments: [
            (right.replacing("\n", with: "\r\n"), "differs from byte 22 on"),
            ("hello\n", "differs from byte 0 on"), (right + "x", "differs from byte 23 on"),
        ])
    func namedDamage(text: String, words: String) throws {
        let (folder, marker) = try filled()
        try Data(text.utf8).write(to: marker)
        let error = try #require(refusal(folder, .readOnly))
        #expect(error.description.contains("its marker file vellum-store \(words)"))
        #expect(!error.description.contains("no such file"))
    }
}
