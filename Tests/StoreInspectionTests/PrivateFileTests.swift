import Foundation
import StoreInspection
import Testing

@Suite("private files") struct PrivateFileTests {
    private func contents(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test("removes folders of killed processes, and no others")
    func abandonedFolders() throws {
        let parent = FileManager.default.temporaryDirectory.path + "/vellum-private-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: parent) }
        func make(_ name: String, _ mode: Int) throws {
            try FileManager.default.createDirectory(
                atPath: parent + "/" + name, withIntermediateDirectories: true,
                attributes: [.posixPermissions: mode])
            try Data([1]).write(to: URL(fileURLWithPath: parent + "/\(name)/value.json"))
        }
        try make("vellum-view-aaaaaa", 0o700)
        try make("vellum-view-bbbbbb", 0o755)
        try make("other-cccccc", 0o700)
        try FileManager.default.createSymbolicLink(
            atPath: parent + "/vellum-view-dddddd", withDestinationPath: "other-cccccc")
        var kept: PrivateFile? = try PrivateFile(named: "kept.txt", in: parent)
        let keptPath = try #require(kept?.path)
        kept?.keep()
        kept = nil
        let used = try PrivateFile(named: "used.txt", in: parent)
        PrivateFile.removeAbandoned(in: parent)
        #expect(used.exists && FileManager.default.fileExists(atPath: keptPath))
        let left = try contents(parent)
        #expect(left.count == 5 && !left.contains("vellum-view-aaaaaa"), "\(left)")
        #expect(try contents(parent + "/other-cccccc") == ["value.json"])
        withExtendedLifetime(used) {}
    }
}
