import Foundation
import Testing

@Suite("exit codes and messages")
struct ExitStatusTests {
    let store: TestStore

    init() throws {
        store = TestStore()
        try store.done("put", "A", "k", input: "{\"a\":1}")
    }

    @Test(arguments: [
        ["bogus"], ["keys"], ["keys", "A", "--order", "bogus"], ["keys", "A", "--limit", "-1"], ["get", "A"],
        ["get", "A", "k", "--json", "--raw"], ["get", "A", ""], ["put", "A"], ["rm", "A"],
        ["rm", "A", "k", "--all"],
        ["rm", "A", "k"], ["import", "A", "file"], ["import", "A", "/nonexistent.csv", "--key", "k"],
        ["put", "A", "k", "/nonexistent.json"], ["put", "A", "k", "--kind", "collection", "--disk", "1KB"],
        ["ls", "--bogus"], ["demo", "--rate", "0"], ["export", "A", "/nonexistent/file"],
    ])
    func wrongUsageIs2(arguments: [String]) throws {
        let result = try Vellum.run(["--store", store.path] + arguments).expect(2)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("vellum: "))
        #expect(!result.errors.hasPrefix("vellum: Error"))
    }

    @Test("a missing file, and a folder in place of a file, are wrong usage")
    func unusableFilesAre2() throws {
        let folder = store.folder / "folder"
        let target = store.folder / "target"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        var commands: [(path: String, arguments: [String])] = []
        for path in [store.folder / "missing", folder] {
            commands += [
                (path, ["query", "A", "--file", path]), (path, ["put", "B", "k", path]),
                (path, ["import", "B", path, "--key", "id"]), (path, ["restore", path, target]),
            ]
        }
        for path in [store.folder / "missing/file.csv", folder] {
            commands += [
                (path, ["query", "A", "--output", path, "--format", "csv"]),
                (path, ["export", "A", path, "--format", "csv"]), (path, ["dump", path]),
            ]
        }
        for (path, arguments) in commands {
            let result = try Vellum.run(arguments + ["--store", store.path])
            #expect(result.status == 2 && result.output.isEmpty, "\(arguments): \(result)")
            #expect(result.errors.hasPrefix("vellum: \(path)"), "\(arguments): \(result.errors)")
            #expect(result.errors.split(separator: "\n").count == 1, "\(arguments): \(result.errors)")
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted()
        #expect(left == ["folder", "store"], "\(left)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        #expect(try store.archives().keys.sorted() == ["A"])
    }

    @Test(arguments: [
        ["get", "A", "nothing"], ["keys", "Nothing"], ["rm", "A", "nothing", "--yes"], ["export", "B"],
    ])
    func nothingMatchedIs1(arguments: [String]) throws {
        let result = try Vellum.run(["--store", store.path] + arguments).expect(1)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("vellum: ") && result.errors.hasSuffix("\n"))
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test("an interrupted deletion reports its progress and how to undo it", arguments: [SIGINT, SIGTERM])
    func interruptedDeletionReportsProgress(signal: Int32) async throws {
        let lines = (0..<30_000).map { "{\"id\":\"k\($0)\",\"n\":\($0)}" }
        try store.done("import", "B", "-", "--key", "id", input: lines.joined(separator: "\n"))
        let removing = try store.start("rm", "B", "--where", "n >= 100", "--yes")
        try await removing.until("deleted entries") {
            try store.run("ls", "--json").text.contains("\"entries\":30000") == false
        }
        removing.signal(signal)
        let status = try await removing.finish()
        let errors = removing.errors
        // It may have completed.
        if status == 0 {
            #expect(errors.contains("deleted 29,900 entries"))
        } else {
            #expect(status == 128 + signal)
            #expect(errors.contains("interrupted: Stopped after"), "\(errors)")
        }
        #expect(errors.contains("to undo it"), "\(errors)")
        try store.done("undo", "B")
        #expect(try store.done("keys", "B").lines.count == 30_000)
    }

    @Test func missingStoreExitsWith3() throws {
        let file = try store.folder.file("file", "text")
        let other = store.folder / "other"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        _ = try store.folder.file("other/something", "else")
        for path in [file, other, store.folder / "missing", "/dev/null"] {
            for command in [["ls"], ["keys", "A"], ["get", "A", "k"], ["export", "A"], ["check"]] {
                let result = try Vellum.run(command + ["--store", path])
                #expect(result.status == 3, "\(command) \(path)")
                #expect(result.output.isEmpty || command == ["ls"])
                #expect(result.errors.hasPrefix("vellum: ") && result.errors.contains(path))
                #expect(result.errors.split(separator: "\n").count == 1)
            }
        }
        try Vellum.run(["--store", other, "put", "A", "k"], input: "1").expect(3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: other) == ["something"])
    }

    @Test func damageExitsWith3() throws {
        try store.done("put", "A", "intact", input: "{\"b\":2}")
        let archive = store.path + "/A.archive"
        let segment = try #require(
            try FileManager.default.contentsOfDirectory(atPath: archive).first { $0.hasSuffix(".segment") })
        let path = URL(fileURLWithPath: archive + "/" + segment)
        #expect(try store.run("check").status == 0)
        let intact = try Data(contentsOf: path)
        let value = try #require(intact.firstRange(of: Data([0xa1, 0x61, 0x61, 0x01])))
        var damaged = intact
        damaged[value.lowerBound + 3] ^= 0x10
        try damaged.write(to: path)
        let check = try store.run("check", "--json").expect(1)
        let report = try JSON.object(check.text)
        #expect(report["clean"] as? Bool == false)
        #expect((report["damaged"] as? Int ?? 0) > 0)
        #expect(try store.run("check").text.contains("NOT CLEAN"))
        let get = try store.run("get", "A", "k")
        #expect(get.status == 3 || get.status == 1)
        #expect(get.output.isEmpty)
        #expect(get.errors.hasPrefix("vellum: ") && get.errors.split(separator: "\n").count == 1)
        try store.run("touch", "A", "k", "intact").expect(3, errors: "\"k\" cannot be read")
        let export = try store.run("export", "A").expect(3)
        #expect(export.lines == ["{\"b\":2}"], "intact entries were not exported")
        let query = try store.run("query", "A", "find b = 2")
        #expect(query.status == 3 && query.lines.count > 0, "missing rows were not reported")
        #expect(
            query.errors
                == "vellum: 1 damaged entry was left out; run a check to locate the damage\n")
        // Conditions on keys need no values.
        let counted = try store.run("query", "A", "find @key in [\"k\", \"x\"] | count")
        #expect(counted.status == 0 && counted.text == "1\n")
        for words in ["find @key = \"k\"", "find @key in [\"k\", \"x\"]", "select @key", "skip 1"] {
            let query = try store.run("query", "A", words)
            #expect(query.status == 3 && query.errors.contains("1 damaged entry was left out"), "\(words)")
        }
        let explained = try store.run("query", "A", "find b = 2", "--explain")
        #expect(explained.status == 3 && explained.errors.contains("1 damaged entry was left out"))
    }

    @Test("damaged keys are omitted and counted, also after the index was rebuilt")
    func countsDamagedKeys() throws {
        for number in 1...3 { try store.done("put", "B", "key\(number)", "--owner", "own1", input: "{}") }
        let path = URL(fileURLWithPath: store.path + "/B.archive/00000001.segment")
        var bytes = try Data(contentsOf: path)
        bytes[try #require(bytes.firstRange(of: Data("key2".utf8))).lowerBound] ^= 1
        bytes[try #require(bytes.firstRange(of: Data("own1".utf8))).lowerBound] ^= 1
        try bytes.write(to: path)
        let keys = try store.run("keys", "B")
        #expect(keys.status == 3 && keys.lines.count == 1 && keys.text.hasPrefix("key3\t"), "\(keys.text)")
        #expect(keys.errors.contains("2 entries cannot be read"), "\(keys.errors)")
        let sorted = try store.run("keys", "B", "--order", "created", "--json")
        #expect(sorted.status == 3 && sorted.lines.count == 1)
        let plan = try store.run("rm", "B", "--owner", "own1", "--dry-run")
        #expect(plan.status == 3 && plan.text.hasPrefix("would delete 1 entry"), "\(plan.text)")
        #expect(plan.errors.contains("2 entries cannot be read"), "\(plan.errors)")
        try FileManager.default.removeItem(atPath: store.path + "/B.archive/index")
        for words in [
            ["keys", "B"], ["export", "B"], ["query", "B", "count"], ["get", "B", "key2"],
            ["why", "B", "key2"],
            ["diff", "A", "B"], ["diff", "B", "B"], ["undo", "B", "--list"], ["undo", "B"],
            // Regression: these reported lost keys as absent.
            ["exists", "B", "key2"], ["ttl", "B", "key2"], ["touch", "B", "key3", "key2"],
            ["rm", "B", "key2", "--yes"], ["rm", "B", "key2", "--dry-run"],
            ["expire", "B", "key2", "--in", "1h", "--yes"], ["copy", "B", "C", "key2"],
            ["copy", "B", "C", "--where", "a = 1"],
        ] {
            let run = try Vellum.run(words + ["--store", store.path])
            #expect(run.status == 3 && run.errors.contains("its log is damaged"), "\(words): \(run.errors)")
        }
        let exists = try store.run("exists", "B", "key2", "key3").errors
        #expect(exists.contains("no entry \"key2\"") && exists.contains("found \"key3\""), "\(exists)")
        let copy = store.folder / "copy"
        try FileManager.default.copyItem(atPath: store.path, toPath: copy)
        let between = try store.run("diff", "B", "--with", copy)
        #expect(between.status == 3 && between.text.isEmpty)
        let said = between.errors.split(separator: "\n").filter { $0.contains(": B: its log is damaged") }
        #expect(
            said.count == 2 && said[0].contains(store.path) && said[1].contains(copy), "\(between.errors)")
        let emptying = try store.run("rm", "B", "--all", "--dry-run")
        #expect(emptying.status == 3 && emptying.errors.contains("its log is damaged"))
        func screen(_ keys: String) throws -> String {
            try store.done("browse", "--size", "110x10", "--keys", keys, "--print", "text").text
        }
        #expect(try screen("").contains("damaged"))
        #expect(try screen("G<enter>").contains("log damaged: some may be missing"))
    }

    @Test func checkContinuesAfterUnreadableArchive() throws {
        try store.done("put", "B", "k", input: "1")
        try Data("garbage".utf8).write(to: URL(fileURLWithPath: store.path + "/A.archive/descriptor"))
        let check = try store.run("check", "--json").expect(1)
        #expect(check.errors.isEmpty)
        let report = try JSON.object(check.text)
        #expect(report["clean"] as? Bool == false)
        #expect(report["entries"] as? Int == 1)
        #expect(report["damaged"] as? Int == 1)
        let archives = try #require(report["archives"] as? [[String: Any]])
        #expect(archives.map { $0["archive"] as? String } == ["A", "B"])
        #expect(archives.map { $0["clean"] as? Bool } == [false, true])
        #expect((archives[0]["problems"] as? [String])?.first?.contains("A.archive/descriptor") == true)
        let text = try store.run("check").expect(1)
        #expect(text.text.contains("A: NOT CLEAN") && text.text.contains("B: clean, 1 entry"))
    }

    /// A segment cut off loses keys, too: the rest is listed, and the number of lost ones reported.
    @Test(arguments: [5000, 0] as [UInt64]) func countsLostEntries(left: UInt64) throws {
        let lines = (0..<2000).map { "{\"id\":\($0),\"text\":\"\(String(repeating: "x", count: 200))\"}\n" }
        try store.done("import", "Many", "-", "--key", "id", "--format", "ndjson", input: lines.joined())
        let archive = store.path + "/Many.archive"
        let segments = try FileManager.default.contentsOfDirectory(atPath: archive)
            .filter { $0.hasSuffix(".segment") }.sorted()
        try #require(segments.count > 1)
        let entries = try #require(try store.archives()["Many"]?["entries"] as? Int)
        let handle = try FileHandle(
            forWritingTo: URL(fileURLWithPath: archive + "/" + (try #require(segments.first))))
        try handle.truncate(atOffset: left)
        try handle.close()

        // A count reads no values, but notices a segment that is shorter than its entries.
        for command in [["ls"], ["stats"], ["stats", "Many"], ["query", "Many", "count"]] {
            let result = try Vellum.run(command + ["--store", store.path])
            #expect(result.status == 3, "\(command): \(result.errors)")
            #expect(result.errors.contains("00000001.segment"), "\(result.errors)")
        }
        for command in [["drop", "Many"], ["rm", "Many", "--all"]] {
            let plan = try Vellum.run(command + ["--dry-run", "--store", store.path])
            #expect(plan.status == 3 && plan.text.hasPrefix("would "), "\(command): \(plan.errors)")
        }
        for command in [["keys", "Many"], ["export", "Many"], ["export", "Many", "--format", "csv"]] {
            let result = try Vellum.run(command + ["--store", store.path])
            let printed = result.lines.count - (command.count > 2 ? 1 : 0)
            #expect(printed > 0 && printed < entries)
            #expect(result.status == 3, "\(command)")
            let missing = "vellum: \(entries - printed) entries cannot be read"
            #expect(result.errors.hasPrefix(missing), "\(command): \(result.errors)")
            #expect(result.errors.split(separator: "\n").count == 1)
        }
    }

    @Test func checkFindsNothingInCleanStore() throws {
        let report = try JSON.object(try store.done("check", "--json").text)
        #expect(report["clean"] as? Bool == true)
        #expect(report["entries"] as? Int == 1)
        #expect(report["damaged"] as? Int == 0)
        #expect(report["salvaged"] as? Int == 0)
        let archives = try #require(report["archives"] as? [[String: Any]])
        #expect(archives.count == 1 && archives[0]["archive"] as? String == "A")
        #expect(archives[0]["valueBytes"] as? Int == 4)
        #expect(try store.done("check").text == "A: clean, 1 entry, 4 B\n")
    }

    @Test func helpAndVersionExitWith0() throws {
        let pages = [
            ["--help"], ["help"], ["help", "import"], ["--version"], ["ls", "--help"], ["import", "--help"],
            ["demo", "-h"],
        ]
        for arguments in pages {
            let result = try Vellum.run(arguments)
            #expect(result.status == 0 && !result.output.isEmpty && result.errors.isEmpty, "\(arguments)")
        }
        let version = try Vellum.run(["--version"]).text
        #expect(version.contains(/^\d+\.\d+\.\d+( \([0-9a-f]{10,}(-dirty)?\))?\n$/), "\(version)")
        #expect(!(try Vellum.run(["--help"]).text.contains("\n  workload")))
    }

    /// The caches folder of a program with these variables.
    private var caches: (folder: String, variables: [String: String]) {
        #if os(macOS)
        return (store.folder / "Library/Caches", ["HOME": store.folder.path])
        #else
        return (store.folder / "caches", ["XDG_CACHE_HOME": store.folder / "caches"])
        #endif
    }

    @Test("a missing store is reported with the searched folder and the stores of the caches folder")
    func namesExistingStores() throws {
        let (caches, variables) = caches
        let nothing = try Vellum.run(["ls", "--store", "/none/fast"], environment: variables)
        #expect(nothing.errors.contains("/none/fast; vellum put"), "\(nothing.errors)")
        try FileManager.default.createDirectory(atPath: caches, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: store.path, toPath: caches + "/fast")
        for name in ["fast", "/none/fsat"] {
            let near = try Vellum.run(["ls", "--store", name], environment: variables)
            #expect(near.status == 3 && near.errors.contains("--store \(caches)/fast?"), "\(near.errors)")
        }
        let other = try Vellum.run(["ls", "--store", "/none/unlike"], environment: variables)
        #expect(other.errors.contains("at /none/unlike; \(caches) has fast\n"), "\(other.errors)")
    }

    @Test func findsOnlyStoreInCaches() throws {
        let (caches, variables) = caches
        try FileManager.default.createDirectory(atPath: caches + "/empty", withIntermediateDirectories: true)
        try Vellum.run(["ls"], environment: variables).expect(2, errors: caches)
        try FileManager.default.copyItem(atPath: store.path, toPath: caches + "/one")
        #expect(try Vellum.run(["ls"], environment: variables).text.hasPrefix("A\t"))
        #expect(try Vellum.run(["put", "A", "x"], input: "1", environment: variables).status == 2)
        try FileManager.default.copyItem(atPath: store.path, toPath: caches + "/two")
        let several = try Vellum.run(["ls"], environment: variables).expect(2)
        #expect(several.errors.contains(caches + "/one\n") && several.errors.contains(caches + "/two\n"))
        let named = variables.merging(["VELLUM_STORE": store.path]) { $1 }
        #expect(try Vellum.run(["ls"], environment: named).status == 0)
    }

    @Test func inaccessibleFolderExitsWith3() throws {
        try #require(chmod(store.path, 0) == 0)
        defer { chmod(store.path, 0o700) }
        // Root may enter every folder.
        let result = try store.run("ls")
        #expect(result.status == (geteuid() == 0 ? 0 : 3))
        if geteuid() != 0 { #expect(result.errors.hasPrefix("vellum: no permission")) }
    }

    #if os(Linux)
    @Test func unwritableOutputExitsWith3() throws {
        let result = try Vellum.shell("exec \"$0\" ls --store \"$1\" >/dev/full", store.path).expect(3)
        #expect(result.errors == "vellum: standard output: No space left on device\n")
    }
    #endif

    @Test func closedPipeEndsQuietly() throws {
        let lines = (0..<20000).map { "{\"id\":\($0)}" }.joined(separator: "\n")
        try store.done("import", "Many", "-", "--key", "id", input: lines)
        let result = try Vellum.shell("trap '' PIPE; \"$0\" keys Many --store \"$1\" | head -n 1", store.path)
        #expect(result.lines.count == 1 && result.text.hasPrefix("19999\t"))
        #expect(result.errors.isEmpty)
    }
}
