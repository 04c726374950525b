import Foundation
import StorageEngine
import Testing

/// Folders and links in place of the engine's files.
@Suite struct ObstacleTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private static let files = [
        "opening", "attached", "index", "index.new", "syncing", "descriptor.new", "requests",
    ]

    @Test("reports and renames folders and links", arguments: files, [false, true])
    func reportedAndRenamed(file: String, isLink: Bool) throws {
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
        // The next user of the name replaces a link that isn't part of the archive.
        let isReplaced = isLink && ["index", "index.new", "descriptor.new"].contains(file)
        if !isReplaced {
            let report = try folder.check()
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
        var batch = Batch()
        for key in ["b", "c"] { batch.put([2], forKey: key) }
        try again.apply(batch)
        try again.synchronize()
        try again.setLimits(disk: 1000, memory: nil)
        #expect(try again.check().clean)
        #expect(Set(try again.entries().keys) == ["a", "b", "c"])
        // Renamed files are removed with the archive; targets of links stay.
        try store.removeArchive(named: "A")
        #expect(!FileManager.default.fileExists(atPath: folder.store + "/A.archive"))
        #expect(FileManager.default.fileExists(atPath: folder.store + "/vellum-store"))
    }

    @Test("reports files that others may write", arguments: ["opening", "attached"])
    func writableFiles(file: String) throws {
        let store = try Store.open(at: folder.store)
        let archive = try store.archive(named: "A", orCreate: .cache())
        try archive.put([1], forKey: "a")
        archive.close()
        try #require(chmod(folder.archivePath("A", file), 0o666) == 0)
        let report = try folder.check()
        #expect(report.entries == 1 && !report.clean)
        #expect(
            report.problems.contains { $0.contains("/\(file) may be written by other users") }, "\(report)")
        #expect(throws: StorageError.self) { try store.repair(archiveNamed: "A") }
        try #require(chmod(folder.archivePath("A", file), 0o600) == 0)
        #expect(try store.archive(named: "A").check().clean)
    }

    @Test(
        "an archive whose request trace is unusable stays usable, and a repair makes it record again",
        arguments: ["requests", "requests.new"], ["folder", "link", "pipe", "writable"])
    func unusableTrace(file: String, what: String) throws {
        let archive = try folder.archive(creating: .cache())
        try archive.put([1], forKey: "a")
        archive.close()
        let path = folder.archivePath("A", file)
        try? FileManager.default.removeItem(atPath: folder.archivePath("A", "requests"))
        switch what {
        case "folder":
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case "link":
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.path)
        case "pipe": try #require(mkfifo(path, 0o600) == 0)
        default:
            try Data([1]).write(to: URL(fileURLWithPath: path))
            try #require(chmod(path, 0o666) == 0)
        }
        let isFolder = what == "folder"
        try folder.withArchive(mode: .readOnly) { archive in
            let report = try archive.check()
            #expect(report.problems.count == 1 && report.problems[0].contains(path), "\(report)")
            #expect(!report.problems[0].contains("can't be opened"), "\(report)")
            let problem = try archive.requestsProblem()
            #expect(problem == report.problems[0])
            #expect(problem?.contains("not recorded") == isFolder)
            #expect(try archive.requestSamples() == nil)
        }
        for repairs in [false, true] {
            if repairs { #expect(try folder.repair().damaged == (isFolder ? 1 : 0)) }
            let isUsable = repairs || !isFolder
            try folder.withArchive { archive in
                _ = try archive.access("a")
                #expect(try (archive.requestSamples()?.requests.isEmpty == false) == isUsable)
                #expect(try (archive.requestsProblem() == nil) == isUsable)
                #expect(try archive.check().clean == isUsable)
            }
        }
    }

    @Test("a repair renames a request trace that others may write") func writableTrace() throws {
        try folder.archive(creating: .cache()).close()
        let path = folder.archivePath("A", "requests")
        try #require(chmod(path, 0o666) == 0)
        #expect(try folder.repair().damaged == 1)
        #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
        #expect(try folder.check().clean)
    }

    @Test(
        "reports files with names like segments",
        arguments: ["00000000.segment", "0000000A.segment", "1.segment"])
    func namesLikeSegments(file: String) throws {
        let archive = try folder.archive(creating: .cache())
        try archive.put([1], forKey: "a")
        let path = folder.archivePath("A", file)
        try FileManager.default.copyItem(atPath: folder.archivePath("A", "00000001.segment"), toPath: path)
        let report = try archive.check()
        #expect(report.entries == 1 && report.problems.count == 1 && report.problems[0].contains(file))
        try FileManager.default.removeItem(atPath: path)
        #expect(try archive.check().clean)
    }

    @Test(
        "refuses links, folders and pipes in place of segments",
        arguments: ["link", "dangling", "folder", "pipe"], [false, true])
    func segmentsThatAreNotFiles(what: String, hasIndex: Bool) throws {
        let archive = try folder.archive(creating: .collection)
        for number in 0..<200 { try archive.put(repeated(1, 5_000), forKey: "k\(number)") }
        archive.close()
        let segments = try folder.segments()
        for name in Set([segments[0], segments[segments.count - 1]]) {
            let path = folder.archivePath("A", name)
            let moved = folder.path + "/" + name
            try FileManager.default.moveItem(atPath: path, toPath: moved)
            switch what {
            case "folder":
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            case "pipe": try #require(mkfifo(path, 0o600) == 0)
            case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: moved)
            default:
                try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: moved + "none")
            }
            if !hasIndex { try? FileManager.default.removeItem(atPath: folder.archivePath("A", "index")) }
            for mode in [AccessMode.readOnly, .readWrite] {
                let error = #expect(throws: StorageError.self) {
                    try folder.archive(mode: mode)
                }
                #expect(error?.description.contains("\(name)") == true, "\(String(describing: error))")
            }
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: moved, toPath: path)
            #expect(try folder.withArchive { try $0.check().clean && $0.status().entries == 200 })
        }
    }

    @Test("an error names the folder") func namedFolder() throws {
        try folder.archive(creating: ArchiveConfiguration()).put([1], forKey: "a")
        try folder.archive().close()
        try folder.removeIndex("A")
        let path = folder.archivePath("A", "index")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let error = #expect(throws: StorageError.self) { try folder.archive() }
        #expect(error?.description.contains("/index is damaged") == true, "\(String(describing: error))")
    }
}
