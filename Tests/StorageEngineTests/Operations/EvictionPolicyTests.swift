import Foundation
import StorageEngine
import TestSupport
import Testing

/// The setting of an archive's eviction policy.
@Suite struct EvictionPolicyTests {
    private func policyInIndex(_ folder: TemporaryFolder) throws -> UInt8 {
        try contents(of: folder.archivePath("A", "index"))[496]
    }

    @Test("a policy that earlier programs lack makes them refuse the archive")
    func descriptorVersion() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .cache())
        let before = try contents(of: folder.archivePath("A", "descriptor"))
        #expect(before[8] == 1 && before[13] == 0)
        try archive.setEvictionPolicy(.s3fifo)
        try archive.setDurability(.full)
        let changed = try contents(of: folder.archivePath("A", "descriptor"))
        #expect(changed[8] == 2 && changed[13] == 0x12)
        #expect(try archive.configuration().evictionPolicy == .s3fifo)
        #expect(try archive.configuration().durability == .full)
        try archive.setDurability(.process)
        try archive.setEvictionPolicy(.lru)
        #expect(try contents(of: folder.archivePath("A", "descriptor")) == before)
    }

    @Test("a policy is one for all handles, and stays when the archive is closed or loses its index")
    func persistence() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let (first, second) = (try folder.archive(creating: .cache()), try folder.archive())
        try first.put([1], forKey: "a")
        try first.setEvictionPolicy(.s3fifo)
        #expect(try second.configuration().evictionPolicy == .s3fifo)
        try second.put([2], forKey: "b")
        #expect(try policyInIndex(folder) == 1)
        first.close()
        second.close()
        var again = try folder.archive()
        #expect(try again.status().entries == 2)
        again.close()
        try folder.removeIndex("A")
        again = try folder.archive()
        #expect(try again.status().entries == 2)
        #expect(try policyInIndex(folder) == 1)
        try again.expectValid()
        try again.setEvictionPolicy(.lru)
        #expect(try policyInIndex(folder) == 0)
        try again.expectValid()
    }

    @Test("only a cache has a policy", arguments: [ArchiveConfiguration.collection, .log()])
    func otherKinds(configuration: ArchiveConfiguration) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: configuration)
        let before = try contents(of: folder.archivePath("A", "descriptor"))
        #expect {
            try archive.setEvictionPolicy(.s3fifo)
        } throws: { error in
            if case StorageError.invalidConfiguration = error { true } else { false }
        }
        #expect(try contents(of: folder.archivePath("A", "descriptor")) == before)
        var wanted = configuration
        wanted.evictionPolicy = .s3fifo
        #expect(throws: StorageError.self) { try folder.archive("B", creating: wanted) }
    }

    @Test("a policy is refused while an attached process's program lacks it")
    func earlierPrograms() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .cache())
        // An earlier program leaves zero.
        try overwrite(folder.archivePath("A", "index"), at: 4096 + 56, with: Data(repeated(0, 4)))
        #expect {
            try archive.setEvictionPolicy(.s3fifo)
        } throws: { error in
            if case StorageError.busy(_, getpid(), _) = error { true } else { false }
        }
        #expect(try archive.configuration().evictionPolicy == .lru)
        #expect(try policyInIndex(folder) == 0)
        archive.close()
        let again = try folder.archive()
        try again.setEvictionPolicy(.s3fifo)
        #expect(try policyInIndex(folder) == 1)
    }
}
