import Foundation
import StorageEngine
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A smaller limit is what frees a full disk. What broke: the descriptor, which is replaced whole, could not be written
/// there, so the limit stayed.
@Suite(.oneAtATime) struct FullDiskResizeTests {
    private func filled(
        _ folder: TemporaryFolder, _ kind: ArchiveKind, entries: Int, bytes: Int
    ) throws -> Archive {
        let archive = try Store.open(at: folder.store).archive(
            named: "A", orCreate: ArchiveConfiguration(kind: kind, diskLimit: 5_000_000))
        for number in 0..<entries {
            let value = [UInt8](repeating: UInt8(number & 255), count: bytes)
            if kind == .log { try archive.append(value) } else { try archive.put(value, forKey: "\(number)") }
        }
        return archive
    }

    /// Nothing can be written where there are no blocks yet: no file of the archive gets longer, until a segment is
    /// removed, and a new descriptor has none.
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

    @Test(arguments: [ArchiveKind.cache, .log])
    func aLimitIsMadeSmaller(kind: ArchiveKind) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try filled(folder, kind, entries: 400, bytes: 10_000)
        let before = try archive.status()
        for limit in [UInt64(1_000_000), 300_000] {
            try onAFullDisk(folder) { try archive.setLimits(disk: limit, memory: nil) }
            #expect(try archive.status().diskBytes <= limit)
        }
        #expect(try archive.status().footprint < before.footprint)
        #expect(try archive.invariantViolations() == [])
        #expect(try archive.check().clean)
        archive.close()
        let again = try Store.open(at: folder.store).archive(named: "A")
        #expect(try again.configuration().diskLimit == 300_000)
    }

    /// More small entries go than one frame may name where only the reserve is left.
    @Test func manySmallEntriesGo() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try filled(folder, .cache, entries: 30_000, bytes: 100)
        let newest = try archive.entries().prefix(1_000).map(\.recency)
        try onAFullDisk(folder) { try archive.setLimits(disk: 100_000, memory: nil) }
        #expect(try archive.entries().map { $0.recency } == newest, "the least recent went, and no more")
        #expect(try archive.invariantViolations() == [])
        #expect(try archive.check().clean)
    }

    /// Without the spare file there is no room: nothing changes, and it is said why.
    @Test func withoutRoomNothingChanges() throws {
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
            // With room again, the next one finds a spare file.
            try archive.setLimits(disk: 5_000_000, memory: nil)
            #expect(FileManager.default.fileExists(atPath: spare))
        }
    }
}
