import Foundation
import StorageEngine
import TestSupport
import Testing

/// Metadata of an entry is of one version, even during an overwrite.
@Suite(.oneAtATime) struct EntryVersionTests {
    private static let short = EntryAttributes(lifetime: .seconds(1_000), owner: "short")
    private static let long = EntryAttributes(lifetime: .seconds(1_000_000), owner: "long")

    private func archive(_ folder: TemporaryFolder) throws -> Archive {
        try folder.archive(creating: .collection)
    }

    /// Describes metadata that mixes versions. Valid are 10 bytes with a short TTL, 20 with a long one, and 30 without
    /// one.
    private func mixture(_ metadata: EntryMetadata) -> String? {
        let lifetime = metadata.expires.map { ($0.microseconds - metadata.created.microseconds) / 1_000_000 }
        let isShort = metadata.valueBytes == 10 && metadata.owner == "short" && (990...1_010) ~= lifetime ?? 0
        let isLong =
            metadata.valueBytes == 20 && metadata.owner == "long" && (990_000...1_010_000) ~= lifetime ?? 0
        let isLasting = metadata.valueBytes == 30 && metadata.owner == nil && lifetime == nil
        return isShort || isLong || isLasting ? nil : "\(metadata)"
    }

    private func store(_ number: Int, in archive: Archive) throws {
        switch number % 3 {
        case 0: try archive.put(repeated(1, 10), forKey: "key", attributes: Self.short)
        case 1: try archive.put(repeated(2, 20), forKey: "key", attributes: Self.long)
        default: try archive.put(repeated(3, 30), forKey: "key")
        }
    }

    @Test("metadata beside a writer is of one version", arguments: [false, true])
    func besideAWriter(inBatches: Bool) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try archive(folder)
        try store(0, in: archive)
        let end = Date().addingTimeInterval(0.6)
        let writer = Background {
            var number = 0
            while Date() < end {
                for _ in 0..<50 {
                    number += 1
                    guard inBatches else {
                        try store(number, in: archive)
                        continue
                    }
                    var batch = Batch()
                    let bytes = repeated(1, 10 + number % 3 * 10)
                    let attributes = [Self.short, Self.long, EntryAttributes()][number % 3]
                    batch.put(bytes, forKey: "key", attributes: attributes)
                    batch.put([1], forKey: "other \(number % 7)")
                    try archive.apply(batch)
                }
            }
        }
        var looks = 0
        var mixtures: [String] = []
        while Date() < end, mixtures.count < 3 {
            // The critical moment is short.
            for _ in 0..<500 {
                let metadata = try #require(try archive.metadata("key"))
                if let mixture = mixture(metadata) { mixtures.append(mixture) }
            }
            let list = try archive.entries()
            for place in list.indices {
                guard let metadata = try list.metadata(at: place), metadata.key == "key" else { continue }
                if let mixture = mixture(metadata) { mixtures.append("in a list: " + mixture) }
            }
            let snapshot = try archive.snapshot()
            for place in 0..<snapshot.count {
                let metadata = try snapshot.metadata(at: place)
                if metadata.key == "key", let mixture = mixture(metadata) {
                    mixtures.append("in a snapshot: " + mixture)
                }
            }
            looks += 1
        }
        try writer.wait()
        #expect(mixtures.isEmpty, "\(mixtures.prefix(3))")
        #expect(looks > 10)
        #expect(try archive.check().clean)
    }

    #if DEBUG
    @Test("an expired value stays hidden wherever its overwrite is stopped")
    func expiredStaysHidden() async throws {
        let points = [CrashPoint.putFrameWritten, .entryNamed, .putIndexChanged, .putCommitted]
        var stopped: [(point: CrashPoint, folder: TemporaryFolder, archive: Archive, worker: Worker)] = []
        for point in points {
            let folder = try TemporaryFolder(inMemory: true)
            let archive = try archive(folder)
            let attributes = EntryAttributes(lifetime: .seconds(3), owner: "old")
            try archive.put([1, 2, 3], forKey: "stopped", attributes: attributes)
            let worker = try folder.worker("stop", "A", "1", point.rawValue)
            stopped.append((point, folder, archive, worker))
        }
        for item in stopped {
            try #require(try await item.worker.process.isStopped(within: 30), "\(item.point)")
        }
        try await Task.sleep(for: .milliseconds(3_100))
        for (point, _, archive, worker) in stopped {
            let found = try archive.peek("stopped")
            #expect(found == nil || found?.count == 1, "\(point): the old value")
            let metadata = try archive.metadata("stopped")
            #expect(metadata?.valueBytes == found?.count && metadata?.owner == nil, "\(point)")
            #expect(metadata?.expires == nil, "\(point)")
            let list = try archive.entries()
            #expect(list.map(\.valueBytes) == (found == nil ? [] : [1]), "\(point)")
            #expect(list.allSatisfy { $0.expires == nil }, "\(point)")
            let snapshot = try archive.snapshot()
            #expect(try (0..<snapshot.count).allSatisfy { try snapshot.metadata(at: $0).valueBytes == 1 })
            try await worker.kill()
            try archive.put([1], forKey: "other")
            #expect(try archive.peek("stopped")?.count == 1, "\(point)")
            #expect(try archive.metadata("stopped")?.expires == nil, "\(point)")
            try archive.expectValid("\(point)")
        }
    }
    #endif
}
