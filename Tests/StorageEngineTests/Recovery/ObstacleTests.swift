import Foundation
import StorageEngine
import Testing

/// A folder or a link where the engine needs a file of its own.
///
/// What broke: a check and a repair found nothing, while nobody could store anything.
@Suite struct ObstacleTests {
    private static let files = ["opening", "attached", "index", "index.new", "syncing", "descriptor.new"]

    @Test(arguments: files, [false, true])
    func areReportedAndTakenOutOfTheWay(file: String, isLink: Bool) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let store = try Store.open(at: folder.store)
        defer { store.close() }
        let full = ArchiveConfiguration(kind: .cache, durability: .full)
        let archive = try store.archive(named: "A", orCreate: full)
        try archive.put([1], forKey: "a")
        archive.close()
        let path = folder.archivePath("A", file)
        try? FileManager.default.removeItem(atPath: path)
        if isLink {
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.path)
        } else {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try Data("x".utf8).write(to: URL(fileURLWithPath: path + "/inside"))
        }
        // A link that is no part of the archive is replaced by the first who needs the name.
        let isReplaced = isLink && ["index", "index.new", "descriptor.new"].contains(file)
        if !isReplaced {
            let looking = try Store.open(at: folder.store, mode: .readOnly)
            let report = try looking.archive(named: "A").check()
            looking.close()
            #expect(report.entries == 1)
            #expect(report.problems.contains { $0.contains("/\(file): not a regular file") }, "\(report)")
        }
        let report = try store.repair(archiveNamed: "A")
        #expect(report.entries == 1)
        if !isReplaced {
            #expect(report.damaged == 1)
            #expect(report.problems.contains { $0.contains("renamed to \(file).damaged") }, "\(report)")
            #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
        }
        let again = try store.archive(named: "A")
        try again.put([2], forKey: "b")
        try again.synchronize()
        try again.setLimits(disk: 1000, memory: nil)
        #expect(try again.check().clean)
        #expect(Set(try again.entries().keys) == ["a", "b"])
        // What was put aside goes with the archive; what a link leads to does not.
        try store.removeArchive(named: "A")
        #expect(!FileManager.default.fileExists(atPath: folder.store + "/A.archive"))
        #expect(FileManager.default.fileExists(atPath: folder.store + "/vellum-store"))
    }
}
