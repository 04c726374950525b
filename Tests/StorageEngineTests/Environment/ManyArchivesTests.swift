import Foundation
import StorageEngine
import TestSupport
import Testing

/// Operations on all archives of a store have few files open, whatever the number of archives.
@Suite(.oneAtATime) struct ManyArchivesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        let store = try Store.open(at: folder.store)
        for number in 0..<12 {
            try store.archive(named: "A\(number)", orCreate: .cache()).put([1], forKey: "a")
        }
        store.close()
        #if os(Linux)
        // The background thread may still work for closed archives.
        try #require(try holds { try openFiles(of: "A") == 0 })
        #endif
    }

    /// Files of this store that this process has open.
    private func openNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
            guard let target, target.hasPrefix(folder.store) else { return nil }
            return String(target.dropFirst(folder.store.count + 1))
        }.sorted()
    }

    private func openFiles(of name: String = "") throws -> Int {
        try openNames().count { $0.hasPrefix(name) }
    }

    #if os(Linux)
    @Test("a walk has one archive open at a time", arguments: [AccessMode.readOnly, .readWrite])
    func oneOpenInWalk(mode: AccessMode) throws {
        let store = try Store.open(at: folder.store, mode: mode)
        let kept = try store.archive(named: "A3")
        func isOfOthers(_ name: String) -> Bool { name.hasPrefix("A") && !name.hasPrefix("A3.archive") }
        let before = try openNames()
        var most = 0
        var names: [String] = []
        try store.visitArchives { archive in
            names.append(archive.name)
            most = max(most, try openFiles())
            #expect(try archive.status().entries == 1)
        } unreadable: { name, error in
            Issue.record("\(name): \(error)")
        }
        #expect(try names == store.archiveNames() && names.count == 12)
        #expect(most <= before.count + 4, "\(most) and \(before)")
        // The background thread may have a folder of the open archive open for a moment.
        var after: [String] = []
        #expect(
            try holds(within: 10) {
                after = try openNames()
                return !after.contains(where: isOfOthers) && after.count <= before.count
            }, "\(after) and \(before)")
        #expect(try kept.peek("a") == [1])
    }

    @Test("a backup has one archive open at a time") func oneOpenInBackup() throws {
        let store = try Store.open(at: folder.store, mode: .readOnly)
        var most = 0
        let report = try #require(
            try store.backUp(to: folder.path + "/backup") { _ in
                most = max(most, (try? openFiles()) ?? .max)
                return true
            })
        #expect(report.archives.count == 12 && report.damaged == [])
        #expect(most <= 6, "\(most)")
        #expect(try openFiles(of: "A") == 0)
    }

    @Test("a closed archive keeps no descriptor") func closedDescriptors() throws {
        let store = try Store.open(at: folder.store)
        for number in 0..<12 { try store.archive(named: "A\(number)").close() }
        #expect(try holds { try openFiles(of: "A") == 0 })
    }
    #endif

    @Test("an unreadable archive doesn't hide the others") func unreadableArchive() throws {
        let store = try Store.open(at: folder.store, mode: .readOnly)
        try FileManager.default.removeItem(atPath: folder.archivePath("A5", "descriptor"))
        var seen = 0
        var unreadable: [String] = []
        try store.visitArchives { _ in
            seen += 1
        } unreadable: { name, _ in
            unreadable.append(name)
        }
        #expect(seen == 11 && unreadable == ["A5"])
    }

    @Test("lists an archive whose folder isn't accessible") func inaccessibleFolder() throws {
        let store = try Store.open(at: folder.store, mode: .readOnly)
        let plan = FaultPlan(
            .fails(EACCES), call: .exists, under: folder.archivePath("A5", ""), number: 1, isLasting: true)
        try withFaults(plan) { () throws in
            #expect(try store.archiveNames().count == 12)
            #expect(throws: StorageError.permissionDenied(path: folder.archivePath("A5", "descriptor"))) {
                try store.archive(named: "A5")
            }
        }
    }

    @Test("reports an archive as absent only after a search") func noDescriptor() throws {
        let store = try Store.open(at: folder.store, mode: .readOnly)
        try FileManager.default.createDirectory(
            atPath: folder.store + "/New.archive", withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        for number in 1...10 {
            let plan = FaultPlan(
                .fails(EMFILE), call: .open, under: folder.store + "/New.archive", number: number,
                isLasting: false)
            let error = withFaults(plan) {
                #expect(throws: StorageError.self) { try store.archive(named: "New") }
            }
            guard plan.injected > 0 else {
                #expect(number > 2)
                #expect(error == .noSuchArchive(name: "New", store: folder.store))
                return
            }
            #expect(error?.description.contains("ulimit -n") == true, "\(String(describing: error))")
        }
    }

    @Test("reports an error if it can't decide whether a folder is a store") func undecidedStore() throws {
        #expect(try Store.isStore(at: folder.store))
        #expect(try !Store.isStore(at: folder.path))
        #expect(try !Store.isStore(at: folder.path + "/none"))
        let plan = FaultPlan(.fails(ENFILE), call: .open, under: folder.store, number: 1, isLasting: true)
        let error = StorageError.limitReached(operation: "open", path: folder.store, limit: .openFilesOfAll)
        withFaults(plan) { #expect(throws: error) { try Store.isStore(at: folder.store) } }
    }
}
