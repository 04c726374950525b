import Foundation
import StorageEngine
import TestSupport
import Testing

@Suite(.oneAtATime) struct FailedCreationTests {
    private let folder: TemporaryFolder
    private let configuration = ArchiveConfiguration.collection

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    @Test(
        "a failed creation leaves no folder",
        arguments: [
            (SystemCall.open, EMFILE), (.allocate, ENOSPC), (.write, ENOSPC), (.map, ENOMEM), (.rename, EIO),
        ])
    func failedCreation(call: SystemCall, code: Int32) throws {
        let store = try Store.open(at: folder.store)
        for number in 1...60 {
            let plan = FaultPlan(
                .fails(code), call: call, under: folder.store + "/New.archive", number: number,
                isLasting: false)
            let archive = withFaults(plan) { try? store.archive(named: "New", orCreate: configuration) }
            if let archive {
                try archive.put([1], forKey: "a")
                #expect(try archive.check().clean, "\(call) \(number)")
                try store.removeArchive(named: "New")
                if plan.injected == 0 { return }
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.store)
            #expect(!left.contains("New.archive"), "\(call) \(number)")
            #expect(try store.emptyArchiveNames() == [], "\(call) \(number)")
        }
        Issue.record("creating an archive made more than 60 calls")
    }

    @Test("a failed creation waits for a lock that a starting program copied") func copiedLock() throws {
        let store = try Store.open(at: folder.store)
        let place = folder.store + "/New.archive"
        for number in 1...20 {
            let full = FaultPlan(.fails(ENOSPC), call: .allocate, under: place, number: 1, isLasting: true)
            let held = FaultPlan(
                .fails(EWOULDBLOCK), call: .lock, under: place, number: number, isLasting: false)
            withFaults(full, held) {
                #expect(throws: StorageError.self) {
                    try store.archive(named: "New", orCreate: configuration)
                }
            }
            #expect(!FileManager.default.fileExists(atPath: place), "lock \(number)")
            if held.injected == 0 { return #expect(number > 3) }
        }
        Issue.record("a creation took more than 20 locks")
    }

    @Test("the empty folder of a lost archive stays after a failed creation") func lostArchive() throws {
        let store = try Store.open(at: folder.store)
        try FileManager.default.createDirectory(
            atPath: folder.store + "/Lost.archive", withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        for call in [SystemCall.write, .map, .rename] {
            let plan = FaultPlan(
                .fails(ENOSPC), call: call, under: folder.store + "/Lost.archive", number: 1, isLasting: true)
            withFaults(plan) {
                #expect(throws: StorageError.self) {
                    try store.archive(named: "Lost", orCreate: configuration)
                }
            }
            #expect(try store.emptyArchiveNames() == ["Lost"], "\(call)")
        }
        try store.archive(named: "Lost", orCreate: configuration).put([1], forKey: "a")
        #expect(try store.emptyArchiveNames() == [])
    }

    @Test("the last of two failed creators removes the folder") func secondCreator() throws {
        let store = try Store.open(at: folder.store)
        let place = folder.store + "/New.archive"
        // The folder during its creation.
        try FileManager.default.createDirectory(
            atPath: place, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        #expect(
            FileManager.default.createFile(
                atPath: place + "/opening", contents: nil, attributes: [.posixPermissions: 0o600]))
        let plan = FaultPlan(.fails(ENOSPC), call: .allocate, under: place, number: 1, isLasting: true)
        withFaults(plan) {
            #expect(throws: StorageError.self) { try store.archive(named: "New", orCreate: configuration) }
        }
        #expect(!FileManager.default.fileExists(atPath: place))
    }

    @Test("others can create an archive whose creation failed") func concurrentCreators() async throws {
        let configuration = configuration
        for round in 0..<20 {
            let name = "A\(round)"
            let path = folder.store
            let plan = FaultPlan(
                .fails(ENOSPC), call: .write, under: "\(path)/\(name).archive/descriptor", number: 1,
                isLasting: false)
            SystemFaults.install(plan)
            let failures: [String] = await withTaskGroup(of: String?.self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        do {
                            let store = try Store.open(at: path)
                            defer { store.close() }
                            try store.archive(named: name, orCreate: configuration)
                                .put([UInt8(worker)], forKey: "\(worker)")
                            return nil
                        } catch {
                            return "\(error)"
                        }
                    }
                }
                return await group.reduce(into: [String]()) { if let failure = $1 { $0.append(failure) } }
            }
            SystemFaults.remove(plan)
            #expect(failures.count == 1 && failures[0].contains("no space"), "\(failures)")
            let store = try Store.open(at: path)
            defer { store.close() }
            let archive = try store.archive(named: name)
            #expect(try archive.entries().count == 3)
            #expect(try archive.check().clean)
        }
    }
}
