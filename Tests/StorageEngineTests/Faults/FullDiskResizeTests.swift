import Foundation
import StorageEngine
import Testing

/// A full disk must not prevent a smaller limit, although the descriptor is replaced by a new file.
@Suite(.oneAtATime) struct FullDiskResizeTests {
    private func filled(
        _ folder: TemporaryFolder, _ kind: ArchiveKind, entries: Int, bytes: Int
    ) throws -> Archive {
        let archive = try folder.archive(creating: ArchiveConfiguration(kind: kind, diskLimit: 5_000_000))
        for number in 0..<entries {
            let value = repeated(UInt8(number & 255), bytes)
            if kind == .log { try archive.append(value) } else { try archive.put(value, forKey: "\(number)") }
        }
        return archive
    }

    /// Fails every allocation until a segment is removed, and every write of a new descriptor.
    private func onAFullDisk(_ folder: TemporaryFolder, _ body: () throws -> Void) rethrows {
        let longer = FaultPlan(
            .fails(ENOSPC), call: .allocate, under: folder.path, number: 1, isLasting: true)
        let descriptor = FaultPlan(
            .fails(ENOSPC), call: .write, under: folder.archivePath("A", "descriptor.new"), number: 1,
            isLasting: true)
        for plan in [longer, descriptor] { SystemFaults.install(plan) }
        let observer = SystemFaults.observe(under: folder.path) { event in
            if case .unlinked(let path) = event, path.hasSuffix(".segment") { SystemFaults.remove(longer) }
        }
        defer {
            SystemFaults.endObserving(observer)
            for plan in [longer, descriptor] { SystemFaults.remove(plan) }
        }
        try body()
    }

    @Test("sets a smaller limit on a full disk", arguments: [ArchiveKind.cache, .log])
    func smallerLimit(kind: ArchiveKind) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try filled(folder, kind, entries: 400, bytes: 10_000)
        let before = try archive.status()
        for limit in [UInt64(1_000_000), 300_000] {
            try onAFullDisk(folder) { try archive.setLimits(disk: limit, memory: nil) }
            #expect(try archive.status().diskBytes <= limit)
        }
        #expect(try archive.status().footprint < before.footprint)
        try archive.expectValid()
        archive.close()
        let again = try folder.archive()
        #expect(try again.configuration().diskLimit == 300_000)
    }

    @Test("evicts more entries than one frame can name") func manySmallEntries() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try filled(folder, .cache, entries: 30_000, bytes: 100)
        let newest = try archive.entries().prefix(1_000).map(\.recency)
        try onAFullDisk(folder) { try archive.setLimits(disk: 100_000, memory: nil) }
        #expect(try archive.entries().map { $0.recency } == newest, "only the least recent are evicted")
        try archive.expectValid()
    }

    @Test("reports a full disk and changes nothing without the spare file") func noSpareFile() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try filled(folder, .cache, entries: 100, bytes: 10_000)
        let spare = folder.archivePath("A", "descriptor.spare")
        for size in [nil, 3] {
            try FileManager.default.removeItem(atPath: spare)
            if let size { try Data(count: size).write(to: URL(fileURLWithPath: spare)) }
            onAFullDisk(folder) {
                #expect {
                    try archive.setLimits(disk: 500_000, memory: nil)
                } throws: { error in
                    guard case .noSpace(let path)? = error as? StorageError else { return false }
                    return path.hasSuffix("descriptor.new")
                }
            }
            #expect(try archive.configuration().diskLimit == 5_000_000)
            #expect(try archive.status().entries == 100)
            // With free space, the next call recreates the spare file.
            try archive.setLimits(disk: 5_000_000, memory: nil)
            #expect(FileManager.default.fileExists(atPath: spare))
        }
    }
}
