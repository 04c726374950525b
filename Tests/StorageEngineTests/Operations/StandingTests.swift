import StorageEngine
import Testing

@Suite("How an entry stands besides its metadata")
struct StandingTests {
    let folder: TemporaryFolder
    let store: Store
    let archive: Archive

    init() throws {
        folder = try TemporaryFolder()
        store = try Store.open(at: folder.store, options: StoreOptions(processName: "holder"))
        archive = try store.archive(named: "A", orCreate: ArchiveConfiguration(diskLimit: 1000))
    }

    @Test func whoHoldsItIsNamedToObservers() throws {
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

    @Test func whatHasExpiredStandsUntilItIsClearedAway() throws {
        var found: EntryStanding?
        // The archive's own regular work may have cleared it away meanwhile.
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
