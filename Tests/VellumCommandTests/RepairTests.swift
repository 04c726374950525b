import Foundation
import Testing

@Suite("check --repair")
struct RepairTests {
    private let store: TestStore

    init() throws {
        store = TestStore()
        for archive in ["A", "B"] {
            for number in 0..<5 { try store.done("put", archive, "k\(number)", input: "{\"n\":\(number)}") }
        }
    }

    /// Changes a bit of the last byte where the log has `bytes` for the last time.
    private func damage(
        _ bytes: Data = Data([0xa1, 0x61, 0x6e, 0x02]), in archive: String = "A", of store: String? = nil
    ) throws {
        let path = URL(fileURLWithPath: (store ?? self.store.path) + "/\(archive).archive/00000001.segment")
        var data = try Data(contentsOf: path)
        data[try #require(data.range(of: bytes, options: .backwards)).upperBound - 1] ^= 0x10
        try data.write(to: path)
    }

    @Test func repairsAndKeepsDamagedBytes() throws {
        try damage()
        let dry = try store.run("check", "--repair", "--dry-run", "--json").expect(1)
        #expect(try JSON.object(dry.text)["clean"] as? Bool == false)
        let repair = try store.done("check", "--repair", "--json")
        let report = try JSON.object(repair.text)
        #expect(report["clean"] as? Bool == true)
        #expect(report["entries"] as? Int == 9)
        #expect(report["damaged"] as? Int == 1)
        #expect(report["salvaged"] as? Int == 2)
        let archives = try #require(report["archives"] as? [[String: Any]])
        #expect((archives[0]["problems"] as? [String])?.first?.contains("00000001.segment: bytes ") == true)
        #expect(FileManager.default.fileExists(atPath: store.path + "/A.archive/00000001.segment.damaged"))
        #expect(!FileManager.default.fileExists(atPath: store.path + "/B.archive/00000001.segment.damaged"))
        #expect(try store.done("check").text == "A: clean, 4 entries, 16 B\nB: clean, 5 entries, 20 B\n")
        #expect(try store.keys("A") == ["k4", "k3", "k1", "k0"])
    }

    @Test("a damaged entry can be deleted by its key, and doesn't prevent other deletions")
    func deletesDamagedEntry() throws {
        try damage()
        try store.run("expire", "A", "k2", "k3", "--in", "1h", "--yes").expect(3, errors: "\"k2\"")
        #expect(try store.run("ttl", "A", "k3").status == 0)
        #expect(try store.run("exists", "A", "k2").status == 3)
        try store.done("rm", "A", "k1", "k2", "--yes")
        #expect(try store.keys("A") == ["k4", "k3", "k0"])
        #expect(try store.run("exists", "A", "k2").status == 1)
    }

    @Test("an undo that restores damaged entries ends with 3") func undoOfDamage() throws {
        try store.done("rm", "A", "k1", "k2", "--yes")
        try damage()
        let undo = try store.run("undo", "A", "--json")
        let outcome = try JSON.object(undo.text)
        #expect(undo.status == 3 && outcome["entries"] as? Int == 1 && outcome["damaged"] as? Int == 1)
        #expect(try store.run("get", "A", "k2").status == 3)
        #expect(try store.run("get", "A", "k1").status == 0)
    }

    @Test("commands for several entries or archives continue after a damaged one, and name it")
    func continuesAfterDamage() throws {
        try damage()
        try store.run("copy", "A", "C", "k1", "k2", "k3").expect(3, errors: "\"k2\"")
        #expect(try store.keys("C") == ["k3", "k1"])
        try store.run("copy", "A", "D", "k2").expect(3, errors: "\"k2\"")
        #expect(try store.archives()["D"] == nil)
        let exists = try store.run("exists", "A", "k2", "none", "k1")
        #expect(exists.status == 3 && exists.text.isEmpty)
        #expect(exists.errors.contains("\"k2\"") && exists.errors.contains("no entry \"none\""))
        #expect(!exists.errors.contains("\"k1\""))
        let export = try store.run("export", "A", "-", "--format", "ndjson")
        #expect(export.status == 3 && export.lines.count == 4 && export.errors.contains("\"k2\""))
        try Data("garbage".utf8).write(to: URL(fileURLWithPath: store.path + "/A.archive/descriptor"))
        let compact = try store.run("compact").expect(3, errors: "A: ")
        #expect(compact.lines.compactMap(\.first) == ["B", "C"])
    }

    @Test("commands name at most 20 damaged places, and count the others") func manyPlaces() throws {
        let rows = (0..<240).map { "{\"id\":\"\($0)\",\"n\":\"\($0 % 2 == 0 ? "needle" : "other")\"}\n" }
        try store.done("import", "M", "-", "--format", "ndjson", "--key", "id", input: rows.joined())
        let path = URL(fileURLWithPath: store.path + "/M.archive/00000001.segment")
        var data = try Data(contentsOf: path)
        var from = data.startIndex
        while let found = data.range(of: Data("needle".utf8), in: from..<data.endIndex) {
            data[found.lowerBound] ^= 1
            from = found.upperBound
        }
        try data.write(to: path)
        let damaged = try #require(
            try JSON.object(store.run("check", "--json").text)["damaged"] as? Int)
        try #require(damaged > 100)
        let check = try store.run("check")
        #expect(
            check.text.contains("  and \(damaged - 20) more\n") && check.lines.count <= 24, "\(check.text)")
        for words in [["backup", store.folder / "copy"], ["copy", "M", "N"], ["export", "M"]] {
            let run = try Vellum.run(["--store", store.path] + words).expect(3)
            #expect(run.errors.split(separator: "\n").count <= 22, "\(run.errors)")
        }
    }

    @Test(
        "a repair that makes older values current is announced, and needs a confirmation",
        arguments: [("cache", true, true), ("cache", false, false), ("collection", false, true)])
    func confirmsOlderValues(kind: String, loses: Bool, revives: Bool) throws {
        for (key, number) in [("older", 1), ("older", 2), ("last", 3)] {
            try store.done("put", "O", key, "--kind", kind, input: "{\"n\":\(number)}")
        }
        try damage(Data("older".utf8), in: "O")
        if loses { try FileManager.default.removeItem(atPath: store.path + "/O.archive/index") }
        let check = try store.run("check", "--json").expect(1)
        let archives = try #require(try JSON.object(check.text)["archives"] as? [[String: Any]])
        #expect(archives.map { ($0["remarks"] as? [String])?.count } == [0, 0, 1])
        if revives {
            #expect(try store.run("check", "--repair").status == 2)
            #expect(try store.run("check", "--json").text == check.text)
        }
        try store.done("check", "--repair", revives ? "--yes" : "--json")
        let value = try store.run("get", "O", "older", "--json")
        #expect(value.text == (revives ? "{\"n\":1}\n" : ""))
        #expect(value.status == (revives ? 0 : 1))
    }

    /// Regression: after a rebuild of the index these answered with the value before a damaged one as if nothing was lost.
    @Test("commands for one key report damage", arguments: ["get", "exists", "ttl", "why"])
    func keyCommandsReportDamage(command: String) throws {
        try store.done("put", "A", "k2", input: "{\"n\":3}")
        try store.done("put", "A", "k2", input: "{\"n\":2}")
        try store.done("put", "A", "k9", input: "1")
        #expect(try store.run(command, "A", "k2").status == 0)
        let copy = store.folder / "copy"
        try FileManager.default.copyItem(atPath: store.path, toPath: copy)
        try damage(of: copy)
        try Vellum.run(["--store", copy, command, "A", "k2"]).expect(3, errors: "damaged")
    }

    @Test func reportsSpaceOfRemovedArchives() throws {
        let left = store.path + "/0123456789abcdef.removed"
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        try Data(count: 1 << 20).write(to: URL(fileURLWithPath: left + "/00000001.segment"))
        let check = try store.done("check")
        #expect(
            check.errors.hasPrefix("removed archives and unfinished copies still use 1"), "\(check.errors)")
        try store.done("put", "A", "k", input: "1")
        #expect(try store.done("check").errors.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: left))
    }

    @Test("a missing descriptor is reported and repaired") func repairsMissingDescriptor() throws {
        try FileManager.default.removeItem(atPath: store.path + "/A.archive/descriptor")
        let check = try store.run("check").expect(1)
        #expect(check.text.contains("A: NOT CLEAN") && !check.text.contains("at byte 0"))
        #expect(check.text.contains("vellum check --repair") && !check.text.contains("run a check"))
        let repair = try store.done("check", "--repair")
        #expect(repair.text.hasPrefix("A: repaired, 5 entries, 20 B, 2 damaged\n"))
        #expect(repair.text.contains("The archive is now a collection"))
        // Without the descriptor's hash key the old index can't be compared.
        #expect(repair.text.contains("the old index"))
        #expect(!repair.text.contains("bytes 0 to 0"))
        #expect(try store.archives()["A"]?["kind"] as? String == "collection")
        // The advised command works.
        #expect(repair.text.contains("resize --memory"))
        try store.done("resize", "A", "--memory", "2MB")
    }

    @Test func reportsAndRemovesEmptyFolder() throws {
        let folder = store.path + "/A.archive"
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.removeItem(atPath: folder + "/" + file)
        }
        let list = try store.run("ls", "--json").expect(3, errors: "vellum: A: \(folder) is empty")
        #expect(try JSON.array(list.output).map { $0["archive"] as? String } == ["B"])
        let check = try store.run("check")
        #expect(check.status == 1 && check.text.contains("A: NOT CLEAN"))
        #expect(check.text.contains("check --repair"))
        #expect(FileManager.default.fileExists(atPath: folder))
        let browser = try Vellum.run(
            ["browse", "--store", store.path, "--size", "200x30", "--keys", "k", "--print", "text"])
        #expect(browser.text.contains("unreadable") && browser.text.contains("A.archive is empty"))
        let repair = try store.done("check", "--repair")
        #expect(repair.text.contains("A: repaired") && repair.text.contains("is removed"))
        #expect(!FileManager.default.fileExists(atPath: folder))
        #expect(try store.run("ls").status == 0)
    }

    @Test func leavesCleanStoreUnchanged() throws {
        let path = store.path + "/A.archive/index"
        let before = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
        try store.done("check", "--repair")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int == before)
    }

    @Test func repairsDescriptorOfLog() throws {
        for number in 0..<30 { try store.done("append", "L", "message \(number)", "--disk", "100") }
        let before = try store.done("tail", "L", "-n", "100").text
        #expect(before.hasSuffix("message 29\n"))
        try FileManager.default.removeItem(atPath: store.path + "/L.archive/descriptor")
        let repair = try store.done("check", "--repair")
        #expect(repair.text.contains("The archive is a log"))
        #expect(try store.done("tail", "L", "-n", "100").text == before)
        #expect(try store.archives()["L"]?["entries"] as? Int == before.split(separator: "\n").count)
    }

    /// Regression: after reading commands a check found nothing.
    @Test func reportsCutLogUntilRepaired() throws {
        try Data().write(to: URL(fileURLWithPath: store.path + "/A.archive/00000001.segment"))
        for look in [["ls"], ["keys", "A"], ["stats"]] {
            _ = try Vellum.run(["--store", store.path] + look)
        }
        let check = try store.run("check").expect(1)
        #expect(
            check.text.contains("A: NOT CLEAN") && check.text.contains("the log is missing from byte 64 of"))
        let repair = try store.done("check", "--repair", "--yes")
        #expect(
            repair.text.contains("A: repaired, 0 entries") && repair.text.contains("the log is missing from"))
        #expect(try store.done("check").text.hasPrefix("A: clean, 0 entries"))
    }

    @Test func repairsFolderInPlaceOfFile() throws {
        let path = store.path + "/A.archive/attached"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(try store.run("put", "A", "k9", input: "1").status == 3)
        let check = try store.run("check")
        #expect(check.status == 1 && check.text.contains("attached: not a regular file"))
        let repair = try store.done("check", "--repair")
        #expect(repair.text.contains("renamed to attached.damaged"))
        try store.done("put", "A", "k9", input: "1")
        #expect(try store.done("check").text.hasPrefix("A: clean, 6 entries"))
    }

    @Test(arguments: ["Vellum store, format 1", "Vellum store, format 1\r\n", ""])
    func rewritesMarker(text: String) throws {
        let marker = URL(fileURLWithPath: store.path + "/vellum-store")
        try Data(text.utf8).write(to: marker)
        for command in [["ls"], ["check"], ["check", "--repair", "--dry-run"]] {
            let refused = try Vellum.run(["--store", store.path] + command).expect(3)
            #expect(
                refused.errors.contains("check --repair") && !refused.errors.contains("update the program"))
        }
        let report = try JSON.object(store.done("check", "--repair", "--json").text)
        #expect(report["clean"] as? Bool == true && report["damaged"] as? Int == 1)
        #expect((report["problems"] as? [String])?.first?.contains("vellum-store: rewritten") == true)
        #expect(try store.keys("A").count == 5)
        try FileManager.default.removeItem(at: marker)
        #expect(try store.done("check", "--repair").text.contains("vellum-store: rewritten (it was missing)"))
        #expect(try JSON.object(store.done("check", "--json").text)["problems"] as? [String] == [])
    }

    @Test(
        "after the end of a log was lost, an undo needs a number, and the figures of plans are reported as incomplete"
    )
    func lostEnd() throws {
        for key in ["a", "b", "marker"] {
            try store.done("put", "U", key, input: "[1]")
            if key == "b" { try store.done("expire", "U", "a", "--in", "1h", "--yes") }
        }
        try store.done("rm", "U", "b", "--yes")
        let path = URL(fileURLWithPath: store.path + "/U.archive/00000001.segment")
        let data = try Data(contentsOf: path)
        try data[..<(try #require(data.range(of: Data("marker".utf8))).lowerBound)].write(to: path)
        for selection in [["a"], ["--all"], ["--where", "@size > 0"]] {
            let plan = try Vellum.run(["--store", store.path, "rm", "U", "--dry-run"] + selection)
            #expect(plan.status == 3 && plan.text.hasPrefix("would delete "), "\(selection): \(plan.errors)")
        }
        let drop = try store.run("drop", "U", "--dry-run")
        #expect(drop.status == 3 && drop.text.hasPrefix("would remove archive U "))
        let refused = try store.run("undo", "U")
        #expect(refused.status == 3 && refused.errors.contains("undo U 1"), "\(refused.errors)")
        #expect(try store.run("ttl", "U", "a").text != "never\n")
        try store.done("undo", "U", "1")
        #expect(try store.run("ttl", "U", "a").text == "never\n")
    }

    @Test func refusesOtherFolders() throws {
        let other = TemporaryFolder()
        _ = try other.file("notes", "x")
        let refused = try Vellum.run(["--store", other.path, "check", "--repair"])
        #expect(refused.status == 3 && !refused.errors.contains("rewrites"))
        #expect(!FileManager.default.fileExists(atPath: other / "vellum-store"))
    }

    @Test func listsOtherArchives() throws {
        try Data("x".utf8).write(to: URL(fileURLWithPath: store.path + "/A.archive/descriptor"))
        let list = try store.run("ls", "--json").expect(3)
        #expect(list.errors.hasPrefix("vellum: A: "))
        #expect(try JSON.array(list.output).map { $0["archive"] as? String } == ["B"])
        #expect(try store.run("keys", "A").status == 3)
    }
}
