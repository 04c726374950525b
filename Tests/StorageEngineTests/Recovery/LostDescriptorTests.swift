import Foundation
import StorageEngine
import Testing

/// A repair of an archive without a descriptor restores its kind from its frames.
@Suite struct LostDescriptorTests {
    private func repaired(
        _ configuration: ArchiveConfiguration, _ fill: (Archive) throws -> Void
    ) throws -> (report: RepairReport, store: Store, folder: TemporaryFolder) {
        let folder = try TemporaryFolder(inMemory: true)
        let store = try Store.open(at: folder.store)
        let archive = try store.archive(named: "A", orCreate: configuration)
        try fill(archive)
        archive.close()
        try FileManager.default.removeItem(atPath: folder.archivePath("A", "descriptor"))
        return (try store.repair(archiveNamed: "A"), store, folder)
    }

    @Test("restores a log", arguments: [UInt64(20_000), 9_000_000])
    func lostLog(limit: UInt64) throws {
        var kept: [LogMessage] = []
        let (report, store, folder) = try repaired(ArchiveConfiguration(kind: .log, diskLimit: limit)) {
            archive in
            for number in 0..<3000 { try archive.append([UInt8]("message \(number)".utf8)) }
            try archive.append(repeated(7, 5000))
            kept = try archive.messages(most: .max).messages
        }
        defer { withExtendedLifetime(folder) { store.close() } }
        #expect(report.entries == kept.count)
        #expect(!report.problems.contains { $0.contains("bytes 0 to 0") })
        let archive = try store.archive(named: "A")
        let configuration = try archive.configuration()
        #expect(configuration.kind == .log)
        let limit = try #require(configuration.diskLimit)
        #expect(limit >= report.valueBytes)
        #expect(report.problems.contains { $0.contains("is a log") && $0.contains("\(limit) bytes") })
        #expect(try archive.messages(most: .max).messages == kept)
        #expect(try archive.check().clean)
        try archive.append([1])
        #expect(try archive.messages(most: .max).messages.last?.bytes == [1])
    }

    @Test("restores a cache that evicted") func lostCache() throws {
        var kept: [String] = []
        let (report, store, folder) = try repaired(ArchiveConfiguration(kind: .cache, diskLimit: 3_000_000)) {
            archive in
            for number in 0..<400 { try archive.put(repeated(1, 10_000), forKey: "key \(number)") }
            kept = try archive.entries().keys
        }
        defer { withExtendedLifetime(folder) { store.close() } }
        #expect(kept.count == 300)
        let archive = try store.archive(named: "A")
        #expect(try archive.entries().keys == kept)
        let configuration = try archive.configuration()
        #expect(configuration.kind == .cache)
        let limit = try #require(configuration.diskLimit)
        #expect(limit >= 3_000_000)
        #expect(report.problems.contains { $0.contains("is a cache") && $0.contains("\(limit) bytes") })
        #expect(try archive.check().clean)
    }

    @Test("restores any other archive as a collection") func lostCollection() throws {
        let (report, store, folder) = try repaired(ArchiveConfiguration(kind: .cache, diskLimit: 3_000_000)) {
            archive in
            for number in 0..<40 {
                try archive.put(
                    [1], forKey: "key \(number)",
                    attributes: EntryAttributes(lifetime: number < 10 ? .milliseconds(1) : nil, owner: "o"))
            }
            usleep(5000)
            try archive.removeExpired()
            let planned = try archive.planned((10..<20).map { "key \($0)" })
            #expect(try archive.carryOut(.delete, on: planned).entries == 10)
        }
        defer { withExtendedLifetime(folder) { store.close() } }
        let archive = try store.archive(named: "A")
        let configuration = try archive.configuration()
        #expect(configuration.kind == .collection && configuration.diskLimit == nil)
        #expect(report.entries == 20)
        #expect(
            report.problems.contains { $0.contains("is now a collection") && $0.contains("resize --memory") })
        try archive.setLimits(disk: nil, memory: 1000)
        #expect(try archive.configuration().memoryLimit == 1000)
    }
}
