import Foundation
import StorageEngine
import Testing

/// R12, F9: stores that aren't writable, belong to another user, or contain unexpected kinds of files.
@Suite struct AccessTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func filled(_ folder: TemporaryFolder) throws {
        let archive = try folder.archive(creating: .cache(1_000_000))
        for number in 0..<200 { try archive.put(Array("value \(number)".utf8), forKey: "key \(number)") }
        archive.close()
    }

    private func setMode(_ mode: mode_t, ofAllIn path: String, files: mode_t) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: path + "/" + name, isDirectory: &isFolder)
            #expect(chmod(path + "/" + name, isFolder.boolValue ? mode : files) == 0)
        }
        #expect(chmod(path, mode) == 0)
    }

    private func outcomes(_ folder: TemporaryFolder, _ more: [String]) async throws -> [String] {
        let worker = try Worker(["opening", folder.store, "A"] + more, in: folder)
        let (status, lines) = try await worker.finish()
        #expect(status == 0, "\(lines)")
        return lines
    }

    private static let readable = [
        "reading open done", "reading peek done", "reading list done", "reading put readOnly",
    ]

    private static let isRoot = geteuid() == 0
    /// Owns nothing here.
    private static let otherUser = 65_534

    @Test("stores of another user are read-only", .enabled(if: isRoot, "only root can act as another user"))
    func storesOfAnotherUserAreReadOnly() async throws {
        try filled(folder)
        // Private by default: not even readable.
        #expect(
            try await outcomes(folder, ["\(AccessTests.otherUser)"]) == [
                "reading open permissionDenied", "writing open permissionDenied",
            ])
        // With readable modes, users who trust the owner can read it, with and without an index. All trust root.
        try setMode(0o755, ofAllIn: folder.store, files: 0o644)
        let expected = AccessTests.readable + ["writing open ownedByAnotherUser"]
        #expect(try await outcomes(folder, ["\(AccessTests.otherUser)"]) == expected)
        try folder.removeIndex("A")
        #expect(try await outcomes(folder, ["\(AccessTests.otherUser)"]) == expected)
        // Even where the modes would allow writing.
        try setMode(0o777, ofAllIn: folder.store, files: 0o666)
        #expect(try await outcomes(folder, ["\(AccessTests.otherUser)", "trusting"]) == expected)
    }

    @Test("files of another user are not mapped", .enabled(if: isRoot, "only root can act as another user"))
    func foreignFilesAreNotMapped() async throws {
        try filled(folder)
        let other = uid_t(AccessTests.otherUser)
        for name in ["index", "descriptor", "00000001.segment"] {
            let path = folder.archivePath("A", name)
            #expect(chown(path, other, other) == 0)
            #expect(
                try await outcomes(folder, ["-"]) == ["reading open notPrivate", "writing open notPrivate"],
                "\(name)")
            #expect(try await outcomes(folder, ["-", "trusting"]).first == "reading open done")
            #expect(chown(path, 0, 0) == 0)
        }
        #expect(chown(folder.store, other, other) == 0)
        let lines = try await outcomes(folder, ["-"])
        #expect(lines == ["reading open notPrivate", "writing open ownedByAnotherUser"])
        #expect(try await outcomes(folder, ["-", "trusting"]).first == "reading open done")
        let error = #expect(throws: StorageError.self) { try Store.open(at: folder.store, mode: .readOnly) }
        #expect(error?.description.contains("user \(other)") == true)
        #expect(error?.description.contains("VELLUM_TRUST_OWNER") == true)
    }

    @Test("refuses files that others may write") func writableByOthers() throws {
        try filled(folder)
        let archive = folder.store + "/A.archive"
        let places =
            [folder.store, archive] + ["index", "descriptor", "00000001.segment"].map { archive + "/" + $0 }
        for (path, bit) in places.flatMap({ [($0, mode_t(0o020)), ($0, mode_t(0o002))] }) {
            let isFolder = path == folder.store || path == archive
            #expect(chmod(path, (isFolder ? 0o700 : 0o600) | bit) == 0)
            for mode in [AccessMode.readOnly, .readWrite] {
                // The segment is opened at the first read.
                let error = #expect(throws: StorageError.self, "\(path), \(mode)") {
                    try folder.archive(mode: mode).peek("key 7")
                }
                #expect(
                    error?.description.contains("chmod") == true && error?.description.contains(path) == true)
            }
            #expect(chmod(path, isFolder ? 0o700 : 0o600) == 0)
        }
        // Folders above the store aren't checked: all users may write to /tmp.
        #expect(chmod(folder.path, 0o777) == 0)
        #expect(try folder.archive().peek("key 7") != nil)
    }

    @Test("a store without write permission is readable") func noWritePermission() async throws {
        try filled(folder)
        let user = AccessTests.isRoot ? "\(AccessTests.otherUser)" : "-"
        if AccessTests.isRoot {
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder.store).map {
                folder.store + "/" + $0
            }
            for path in [folder.store] + files {
                #expect(chown(path, uid_t(AccessTests.otherUser), gid_t(AccessTests.otherUser)) == 0)
            }
        }
        try setMode(0o500, ofAllIn: folder.store, files: 0o400)
        defer { try? setMode(0o700, ofAllIn: folder.store, files: 0o600) }
        let expected = AccessTests.readable + ["writing open permissionDenied"]
        #expect(try await outcomes(folder, [user]) == expected)
        try setMode(0o700, ofAllIn: folder.store, files: 0o600)
        try folder.removeIndex("A")
        try setMode(0o500, ofAllIn: folder.store, files: 0o400)
        #expect(try await outcomes(folder, [user]) == expected, "without an index the log is read")
    }

    @Test("a store on a read-only file system is readable") func readOnlyFileSystem() async throws {
        try filled(folder)
        let lines = try await outcomes(folder, ["-", "readOnlyFileSystem"])
        guard lines != ["unsupported"] else {
            print("R12 read-only file system: not possible here without the right to mount")
            return
        }
        let expected = AccessTests.readable + ["writing open readOnly"]
        #expect(lines == expected)
        try folder.removeIndex("A")
        #expect(try await outcomes(folder, ["-", "readOnlyFileSystem"]) == expected)
    }

    // MARK: Other kinds of files

    enum Intruder: CaseIterable {
        case symbolicLink, danglingLink, pipe, folder

        /// Whether something that is no regular file is at a path; links are not followed.
        static func isNoFile(at path: String) -> Bool {
            let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            return type != nil && type != .typeRegular
        }
    }

    private func place(_ intruder: Intruder, at path: String, in folder: TemporaryFolder) throws {
        let aside = folder.path + "/aside"
        if FileManager.default.fileExists(atPath: path) {
            try FileManager.default.moveItem(atPath: path, toPath: aside)
        }
        switch intruder {
        case .symbolicLink: #expect(symlink(aside, path) == 0)
        case .danglingLink: #expect(symlink(folder.path + "/nowhere", path) == 0)
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .folder: #expect(mkdir(path, 0o700) == 0)
        }
    }

    /// Opening and reading return an error or the store's own data, never the target of a link, and change nothing
    /// outside the store.
    @Test(
        "links, folders and pipes in place of files are not followed", arguments: Intruder.allCases,
        [
            "A.archive", "A.archive/descriptor", "A.archive/index", "A.archive/index.new",
            "A.archive/opening",
            "A.archive/attached", "A.archive/lock", "A.archive/00000001.segment", "A.archive/descriptor.new",
            "A.archive/00000002.segment", "vellum-store",
        ])
    func otherKindsOfFiles(intruder: Intruder, name: String) throws {
        try filled(folder)
        let path = folder.store + "/" + name
        try place(intruder, at: path, in: folder)
        let aside = folder.path + "/aside"
        let before = try? contents(of: aside)
        var found: [String] = []
        for (mode, locking) in [(AccessMode.readOnly, LockingMode.automatic), (.readWrite, .fileLock)] {
            // Only an index that says so uses the lock file.
            if mode == .readWrite, name.hasSuffix("/lock") { try folder.removeIndex("A") }
            do {
                let store = try Store.open(
                    at: folder.store, mode: mode, options: StoreOptions(locking: locking))
                let archive = try store.archive(named: "A")
                let value = try archive.peek("key 7")
                #expect(value == Array("value 7".utf8) || (value == nil && name.hasSuffix("1.segment")))
                if mode == .readWrite {
                    try archive.setLimits(disk: 2_000_000, memory: nil)
                    for number in 0..<100 { try archive.put(repeated(1, 2000), forKey: "n \(number)") }
                    // A check reports obstacles that remain.
                    let isInTheWay = name != "A.archive" && Intruder.isNoFile(at: path)
                    #expect(try archive.check().clean == !isInTheWay || name.hasSuffix(".segment"))
                }
                found.append("done")
                store.close()
            } catch {
                switch error {
                case .corrupted, .notAStore, .noSuchArchive: found.append("refused")
                default: Issue.record("\(mode): \(error)")
                }
            }
        }
        let after = try? contents(of: aside)
        #expect(after == before, "the target of the link was changed")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/nowhere"))
        #expect(found.count == 2)
    }

    @Test("a store's path may lead through links") func linkedPath() throws {
        try filled(folder)
        #expect(symlink(folder.store, folder.path + "/link") == 0)
        let archive = try Store.open(at: folder.path + "/link").archive(named: "A")
        #expect(try archive.entries().count == 200)
    }

    @Test("observers evict nothing") func observersEvictNothing() throws {
        let archive = try HandmadeArchive(kind: 1, limit: 10_000)
        try archive.write((1...20).map { .put("key \($0)", repeated(9, 1_000), stamp: UInt64($0)) })
        let segment = archive.folder.archivePath(HandmadeArchive.name, HandmadeArchive.segmentName(1))
        let log = try contents(of: segment)
        // Observers leave no index of segments written within the last minute.
        let hand = ClockHand()
        hand.pass(.seconds(120))
        for _ in 1...2 {
            try Clock.$hand.withValue(hand) {
                let looking = try archive.open(.readOnly)
                #expect(try looking.status().entries == 20)
                #expect(try looking.peek("key 1") != nil)
                looking.close()
            }
        }
        #expect(
            FileManager.default.fileExists(atPath: archive.folder.archivePath(HandmadeArchive.name, "index")))
        #expect(try contents(of: segment) == log)
        let writing = try archive.open()
        defer { writing.close() }
        #expect(try writing.status().entries == 10)
        #expect(try writing.peek("key 10") == nil)
        #expect(try writing.peek("key 11") != nil)
    }
}
