import Foundation
import Testing

@Suite("check --repair")
struct MendingTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
        for archive in ["A", "B"] {
            for number in 0..<5 { try store.done("put", archive, "k\(number)", input: "{\"n\":\(number)}") }
        }
    }

    private func damageOneEntry() throws {
        let path = URL(fileURLWithPath: store.path + "/A.archive/00000001.segment")
        var data = try Data(contentsOf: path)
        let value = try #require(data.firstRange(of: Data([0xa1, 0x61, 0x6e, 0x02])))
        data[value.lowerBound + 3] ^= 0x10
        try data.write(to: path)
    }

    @Test func makesTheStoreCleanAndKeepsWhatItTakesOut() throws {
        try damageOneEntry()
        let dry = try store.run("check", "--repair", "--dry-run", "--json")
        #expect(dry.status == 1)
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
        #expect(
            try store.done("check").text == "A: clean, 4 entries, 16 bytes\nB: clean, 5 entries, 20 bytes\n")
        #expect(try store.keys("A") == ["k4", "k3", "k1", "k0"])
    }

    @Test func saysWhatBecameOfAnArchiveWithoutItsDescriptor() throws {
        try FileManager.default.removeItem(atPath: store.path + "/A.archive/descriptor")
        let repair = try store.done("check", "--repair")
        #expect(repair.text.hasPrefix("A: mended, 5 entries, 20 bytes, 1 damaged\n"))
        #expect(repair.text.contains("limits were lost"))
        #expect(try store.archives()["A"]?["kind"] as? String == "collection")
    }

    @Test func leavesACleanStoreAlone() throws {
        let path = store.path + "/A.archive/index"
        let before = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
        try store.done("check", "--repair")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int == before)
    }
}
