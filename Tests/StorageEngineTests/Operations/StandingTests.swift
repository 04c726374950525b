import StorageEngine
import Testing

@Suite("Holders and expiry of an entry")
struct StandingTests {
    let folder: TemporaryFolder
    let store: Store
    let archive: Archive

    init() throws {
        folder = try TemporaryFolder()
        store = try Store.open(at: folder.store, options: StoreOptions(processName: "holder"))
        archive = try store.archive(named: "A", orCreate: ArchiveConfiguration(diskLimit: 1000))
    }

    @Test("observers see the processes that hold an entry") func holders() throws {
        try archive.put([1], forKey: "k")
        let observer = try Store.open(at: folder.store, mode: .readOnly).archive(named: "A")
        #expect(try observer.standing(of: "nothing") == nil)
        #expect(try observer.standing(of: "k")?.holders == [])
        let held = try #require(try archive.access(toHold: "k"))
        try archive.hold(held, bytes: 1)
        let standing = try #require(try observer.standing(of: "k"))
        #expect(standing.holders.map(\.name) == ["holder"] && !standing.isExpired && standing.expires == nil)
        try archive.release(held, forKey: "k")
        #expect(try observer.standing(of: "k")?.holders == [])
        #expect(throws: StorageError.self) { try observer.standing(of: "") }
    }

    @Test("an expired entry has a standing until its removal") func expiredEntry() throws {
        var found: EntryStanding?
        // A background task may have removed it.
        for _ in 0..<1000 where found == nil {
            try archive.put([1], forKey: "k", attributes: EntryAttributes(lifetime: .zero))
            #expect(try archive.metadata("k") == nil)
            found = try archive.standing(of: "k")
        }
        let standing = try #require(found)
        #expect(standing.isExpired && standing.expires != nil)
        try archive.removeExpired()
        #expect(try archive.standing(of: "k") == nil)
    }
}
