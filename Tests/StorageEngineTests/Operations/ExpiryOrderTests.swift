import StorageEngine
import TestSupport
import Testing

/// Expired entries are removed in the order of their expiry times, and counted nowhere.
@Suite struct ExpiryOrderTests {
    @Test("no count includes expired entries") func expiredAreNotCounted() throws {
        try withManualClock(.collection) { archive, folder, hand in
            for number in 0..<300 {
                try archive.put(
                    [1, 2], forKey: "k\(number)",
                    attributes: .expiring(number % 3 == 0 ? .seconds(5) : nil))
            }
            archive.close()
            hand.pass(.seconds(6))
            let observer = try folder.archive(mode: .readOnly)
            #expect(try observer.status().entries == 200)
            #expect(try observer.status().diskBytes == 400)
            #expect(try observer.entries().count == 200)
            #expect(try observer.owners().map(\.entries) == [200])
            let report = try observer.check()
            #expect(report.clean && report.entries == 200 && report.valueBytes == 400)
            let again = try folder.rebuilt()
            #expect(try again.status().entries == 200)
            #expect(try again.removeExpired() == Removal(entries: 100, bytes: 200))
            #expect(try again.status().entries == 200)
        }
    }

    @Test("bounds of expiry times stay valid through every change") func bounds() throws {
        try withManualClock(.cache(1_000_000)) { archive, folder, hand in
            for number in 0..<9_000 {
                try archive.put([1], forKey: "k\(number)", attributes: .expiring(.seconds(100 + number)))
            }
            for number in 0..<8_500 { try archive.delete("k\(number)") }
            try archive.setLimits(disk: 400, memory: nil)
            try archive.setLifetime(.seconds(3), forKey: "k8900")
            try archive.setLifetime(nil, forKey: "k8901")
            try archive.put([1], forKey: "k8902")
            #expect(try archive.invariantViolations() == [])
            hand.pass(.seconds(4))
            #expect(try archive.removeExpired().entries == 1)
            hand.pass(.seconds(20_000))
            #expect(try archive.removeExpired().entries == 397)
            #expect(Set(try archive.entries().keys) == ["k8901", "k8902"])
            #expect(try archive.removeExpired().entries == 0)
            #expect(try archive.invariantViolations() == [])
        }
    }

    @Test("a process with the archive open removes expired entries") func idleProcess() async throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder.store)
        let first = try store.archive(named: "Life", orCreate: ArchiveConfiguration())
        for number in 0..<50 {
            try first.put([1], forKey: "k\(number)", attributes: .expiring(.milliseconds(400)))
        }
        store.close()
        let idle = try folder.archive("Life")
        #expect(try await eventually(within: 10) { try idle.status().expirations == 50 })
        #expect(try idle.check().clean)
    }
}
