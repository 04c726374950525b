import Foundation
import StorageEngine
import Testing

/// Commands on all archives opened all at once, and failed where a process may have few files or addresses, or reported archives
/// as damaged that they could not open.
@Suite("limits of the process") struct ResourceLimitTests {
    private let folder = TemporaryFolder()
    private var path: String { folder / "store" }

    private func fill(archives: Int) throws {
        let store = try Store.open(at: path)
        for number in 0..<archives {
            let archive = try store.collection("A\(number)")
            try archive.put(Array("{\"n\":1}".utf8), forKey: "k", encoding: .json)
            archive.close()
        }
        store.close()
    }

    /// Runs the program in a shell with these limits.
    private func run(_ limits: String, _ words: String) throws -> Vellum.Result {
        try Vellum.shell("\(limits); exec \"$0\" \(words) --store \"$1\"", path)
    }

    /// The same, printing the number of bytes that the program printed.
    private func counted(_ limits: String, _ words: String) throws -> Vellum.Result {
        try Vellum.shell("{ \(limits); \"$0\" \(words) --store \"$1\" || echo failed >&2; } | wc -c", path)
    }

    /// Regression: with closed standard streams, a segment got the descriptor of standard error, and messages overwrote entries.
    @Test(arguments: ["rm A k1 --yes", "expire A k1 --yes", "put A k2 1", "resize A --memory 1MB", "check"])
    func closedStreamsKeepStoreIntact(words: String) throws {
        let store = try Store.open(at: path)
        let archive = try store.collection("A")
        for number in 0..<50 { try archive.put(Array("\(number)".utf8), forKey: "k\(number)") }
        store.close()
        for closed in ["<&- >&- 2>&-", "<&- 2>&-", ">&- 2>&-"] {
            _ = try run("exec \(closed)", words)
            #expect(try Vellum.run(["check", "--store", path]).status == 0, "\(closed)")
        }
    }

    /// Regression: growing arrays got no memory once segments had used all addresses, which ends a process.
    @Test func exhaustedAddressesAreError() throws {
        let store = try Store.open(at: path)
        let archive = try store.collection("A")
        let value = [UInt8](repeating: 0x31, count: 150)
        for number in 0..<100_000 { try archive.put(value, forKey: "k\(number)", encoding: .json) }
        store.close()
        for kilobytes in [115_000, 120_000, 125_000, 135_000] {
            for words in ["export A -", "check"] {
                let result = try run("ulimit -v \(kilobytes)", words)
                let said = result.errors + result.text.suffix(1000)
                #expect(
                    result.status == 0 || result.status == 3 && said.contains("ulimit -v"),
                    "\(words), \(kilobytes): \(result.status) \(said.suffix(300))")
            }
        }
    }

    /// Regression: with few addresses, threads of a query reserved many pages and segments took the rest; the query was killed or
    /// hung. A check wanted memory for more entries than fitted, and failed or misreported their number.
    @Test func usesLessMemoryWithFewAddresses() throws {
        let lines = (0..<60_000).map { "{\"id\":\"key\($0)\",\"n\":\($0)}\n" }
        let file = try folder.file("lines.ndjson", lines.joined())
        try Vellum.run(["import", "A", file, "--key", "id", "--disk", "2GB", "--store", path]).expect(0)
        var done: [String: Int] = [:]
        for kilobytes in [95_000, 105_000, 110_000, 115_000, 125_000] {
            for words in ["query A 'distinct id | count'", "query A 'median n'", "check"] {
                let result = try run("ulimit -v \(kilobytes)", words)
                let said = result.errors + result.text.suffix(1000)
                #expect(
                    result.status == 0 || result.status == 3 && said.contains("ulimit -v"),
                    "\(words), \(kilobytes): \(result.status) \(said.suffix(300))")
                #expect(
                    !said.contains("cannot list") || said.contains("list the 60000 entries of"), "\(said)")
                if result.status == 0 { done[words] = kilobytes }
            }
        }
        #expect(done["check"] != nil && done["query A 'distinct id | count'"] != nil)
    }

    /// Regression: a value was copied several times, and failed allocations trapped.
    @Test("prints a value in less memory than its size")
    func longValuesArePrintedInPieces() throws {
        let store = try Store.open(at: path)
        let archive = try store.collection("A")
        let count = 24 << 20
        // {"t": …}
        let head: [UInt8] = [0xa1, 0x61, 0x74, 0x7a, 1, 0x80, 0, 0]
        try archive.put(head + [UInt8](repeating: 0x61, count: count), forKey: "k", encoding: .cbor)
        store.close()
        for (words, least) in [
            ("get A k --json", count), ("get A k", count), ("get A k --raw", count), ("export A -", count),
            ("export A - --format csv", count), ("query A --json", count),
            ("query A 'select t' --json", count), ("query A", count), ("query A 'select t' --csv", count),
        ] {
            let result = try counted("ulimit -v 150000", words)
            #expect(result.status == 0, "\(words): \(result.errors.suffix(300))")
            let written = result.text.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 0
            #expect(written >= least, "\(words): \(written) \(result.errors.suffix(300))")
        }
    }

    @Test("ends with a message and status 3 without memory for required data")
    func exhaustedMemory() throws {
        let line = "{\"k\":\"k\",\"t\":\"" + String(repeating: "a", count: 80 << 20) + "\"}"
        let file = try folder.file("line.ndjson", line)
        for words in ["import A '\(file)' --key k", "put A k '\(file)'", "put A k - <'\(file)'"] {
            let result = try run("ulimit -v 200000", words)
            #expect(result.status == 3, "\(words): \(result.status) \(result.errors.suffix(300))")
            #expect(result.errors.contains("ulimit -v"), "\(result.errors.suffix(300))")
            #expect(!result.errors.contains("Fatal error") && result.errors.count < 1_000)
        }
    }

    @Test func opensArchivesOneByOne() throws {
        try fill(archives: 600)
        for limits in ["ulimit -n 64", "ulimit -v 600000"] { try lookAtAll(600, within: limits) }
    }

    private func lookAtAll(_ count: Int, within limits: String) throws {
        let list = try run(limits, "ls")
        #expect(list.status == 0 && list.lines.count == count, "\(list.errors.suffix(300))")
        let check = try run(limits, "check")
        #expect(check.status == 0, "\(check.errors.suffix(300))")
        #expect(check.lines.count == count && check.lines.allSatisfy { $0.contains(": clean, 1 entry") })
        let stats = try run(limits, "stats")
        #expect(stats.status == 0, "\(stats.errors.suffix(300))")
        #expect(stats.lines.count(where: { $0.contains("\tentries\t1") }) == count)
        let copy = folder / "copy"
        let backup = try run(limits, "backup '\(copy)'")
        #expect(
            backup.status == 0 && backup.errors.contains("copied \(count) archives"),
            "\(backup.errors.suffix(300))")
        #expect(try Store.open(at: copy, mode: .readOnly).archiveNames().count == count)
        try FileManager.default.removeItem(atPath: copy)
    }

    @Test func unreadableArchivesAreNotDamaged() throws {
        try fill(archives: 3)
        let check = try run("ulimit -n 7", "check").expect(3)
        #expect(!check.text.contains("NOT CLEAN") && !check.text.contains("clean"), "\(check.text)")
        #expect(check.text.contains("A1: could not be read\n  cannot ") && check.text.contains("ulimit -n"))
        let report = try JSON.object(try run("ulimit -n 7", "check --json").text)
        #expect(report["clean"] as? Bool == false && report["damaged"] as? Int == 0)
        let archives = try #require(report["archives"] as? [[String: Any]])
        #expect(archives.count == 3 && archives.allSatisfy { $0["read"] as? Bool == false })
        // A repair leaves unreadable archives alone.
        let repair = try run("ulimit -n 7", "check --repair")
        #expect(repair.status == 3 && !repair.text.contains("repaired"), "\(repair.text)")
        #expect(try Vellum.run(["check", "--store", path]).status == 0)
    }

    /// Regression: it reported that the medium refused a write.
    @Test func backupReportsMissingDescriptors() throws {
        try fill(archives: 3)
        let copy = folder / "copy"
        for descriptors in 6...14 {
            let backup = try run("ulimit -n \(descriptors)", "backup '\(copy)'")
            if backup.status == 0 {
                #expect(descriptors > 8)
                return
            }
            #expect(backup.status == 3, "\(descriptors): \(backup.errors)")
            #expect(backup.errors.contains("ulimit -n"), "\(descriptors): \(backup.errors)")
            #expect(
                backup.errors.hasPrefix("nothing was written to \(copy)\n"),
                "\(descriptors): \(backup.errors)")
            #expect(!FileManager.default.fileExists(atPath: copy))
        }
    }

    private func fill(_ entries: Int, bytes: Int) throws {
        let store = try Store.open(at: path)
        let archive = try store.collection("A")
        let pad = String(repeating: "x", count: bytes)
        for number in 0..<entries {
            let value = Array("{\"pad\":\"\(number * 7919 % 3001) \(pad)\"}".utf8)
            try archive.put(value, forKey: "\(number)", encoding: .json)
        }
        store.close()
    }

    /// Regression: the advice was to choose another folder.
    @Test func queryReportsMissingDescriptors() throws {
        try fill(2_000, bytes: 100)
        let query = "query A 'sort pad' --memory 1KB"
        var lacked = 0
        for descriptors in stride(from: 6, to: 60, by: 2) {
            let result = try run("ulimit -n \(descriptors)", query)
            if result.status == 0 { break }
            #expect(result.status == 3 && result.errors.contains("ulimit -n"), "\(result.errors)")
            #expect(!result.errors.contains("TMPDIR"), "\(descriptors): \(result.errors)")
            if result.errors.contains("temporary file") { lacked += 1 }
        }
        #expect(lacked > 0)
        let short = try run("ulimit -f 16", query).expect(3, errors: "temporary file")
        #expect(short.errors.contains("ulimit -f") && !short.errors.contains("TMPDIR"), "\(short.errors)")
    }

    /// Regression: a query ignored its address limit and was killed.
    @Test func queryUsesLessMemoryWithFewAddresses() throws {
        try fill(6_000, bytes: 2_000)
        let query = "query A 'sort pad' --explain --json"
        let few = try JSON.object(run("ulimit -v 600000", query).text)
        #expect(try #require(few["temporary"] as? Int) > 0)
        #expect(try #require(few["memory"] as? Int) < 20_000_000)
        let many = try JSON.object(run("ulimit -v unlimited", query).text)
        #expect(many["temporary"] as? Int == 0)
        let said = try JSON.object(run("ulimit -v 600000", query + " --memory 64MB").text)
        #expect(said["temporary"] as? Int == 0)
    }

    @Test func failedImportReportsProgress() throws {
        let text = String(repeating: "x", count: 1_000)
        let lines = (0..<9_000).map { "{\"id\":\($0),\"text\":\"\(text)\"}\n" }
        let file = try folder.file("lines.ndjson", lines.joined())
        let failed = try run("ulimit -f 800", "import Many '\(file)' --key id").expect(3, errors: "ulimit -f")
        let list = try Vellum.run(["ls", "--json", "--store", path])
        let stored = try #require(try JSON.array(list.output).first?["entries"] as? Int)
        #expect(stored > 0 && stored < lines.count)
        let digits = failed.errors.filter { $0 != "," }
        #expect(digits.hasPrefix("imported \(stored) entries "), "\(stored): \(failed.errors)")
        #expect(failed.errors.contains("; stopped\n"), "\(failed.errors)")
    }

    /// Regression: a signal ended the program, and the incomplete file had its final name.
    @Test func failedExportKeepsFile() throws {
        try fill(archives: 1)
        let store = try Store.open(at: path)
        let text = Array(("\"" + String(repeating: "x", count: 4000) + "\"").utf8)
        for number in 0..<20 {
            try store.archive(named: "A0").put(text, forKey: "\(number)", encoding: .json)
        }
        store.close()
        for name in ["new.ndjson", "old.ndjson"] {
            let file = folder / name
            let old = name.hasPrefix("old") ? "old content\n" : nil
            if let old { try old.write(toFile: file, atomically: false, encoding: .utf8) }
            let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            try run("ulimit -f 16", "export A0 '\(file)' --force").expect(3, errors: file, "ulimit -f")
            #expect((try? String(contentsOfFile: file, encoding: .utf8)) == old)
            let after = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(Set(after).subtracting(["limited.out", "limited.err"]).isSubset(of: before), "\(after)")
            #expect(try Vellum.run(["export", "A0", file, "--force", "--store", path]).status == 0)
            #expect(try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").count == 21)
        }
    }
}
