import Foundation
import StorageEngine

/// A small closed archive in memory, whose files are restored to a folder and damaged: a cache of two segments with
/// entries of many sizes, overwritten, deleted and evicted.
struct DamageFixture {
    /// Files of the archive's folder.
    let files: [String: Data]
    let marker: Data
    /// Version of each present entry.
    let live: [String: Int]
    /// Last version ever stored of each key.
    let versions: [String: Int]
    /// Entries whose frame is in each segment.
    let keysOfSegment: [String: Set<String>]

    var segments: [String] { files.keys.filter { $0.hasSuffix(".segment") }.sorted() }

    static let archive = "A"

    static func value(_ key: String, _ version: Int) -> [UInt8] {
        let size = (key.utf8.reduce(7) { $0 &* 31 &+ Int($1) } &+ version &* 131) % 500
        return Array("\(key) \(version):".utf8)
            + repeated(UInt8(truncatingIfNeeded: size), abs(size))
    }

    /// Whether these bytes were ever the value of this key.
    func knows(_ key: String, _ value: [UInt8]) -> Bool {
        guard let last = versions[key] else { return false }
        return (0...last).contains { DamageFixture.value(key, $0) == value }
    }

    init() throws {
        let folder = try TemporaryFolder(inMemory: true)
        var store = try Store.open(at: folder.store)
        var archive = try store.archive(
            named: DamageFixture.archive,
            orCreate: ArchiveConfiguration(
                kind: .cache, diskLimit: 60_000, memoryLimit: 1000, typeName: "Sample"))
        var versions: [String: Int] = [:]
        func put(_ key: String) throws {
            versions[key] = versions[key].map { $0 + 1 } ?? 0
            try archive.put(DamageFixture.value(key, versions[key] ?? 0), forKey: key)
        }
        for number in 0..<150 { try put("key \(number)") }
        for number in stride(from: 0, to: 150, by: 9) { try archive.delete("key \(number)") }
        for number in stride(from: 2, to: 150, by: 5) { try put("key \(number)") }
        for number in 100..<330 { try put("key \(number)") }
        for number in stride(from: 200, to: 330, by: 7) { try archive.delete("key \(number)") }
        // Restored and later entries must evict nothing.
        try archive.setLimits(disk: 4_000_000, memory: 1000)
        for key in ["key 120", "key 260"] { _ = try archive.access(key) }
        var live: [String: Int] = [:]
        for key in try archive.entries().keys { live[key] = versions[key] }
        store.close()
        self.live = live
        self.versions = versions
        var files: [String: Data] = [:]
        for name in try folder.files(inArchive: DamageFixture.archive) {
            files[name] = try contents(of: folder.archivePath(DamageFixture.archive, name))
        }
        self.files = files
        marker = try contents(of: folder.store + "/vellum-store")
        var keysOfSegment: [String: Set<String>] = [:]
        for segment in files.keys.filter({ $0.hasSuffix(".segment") }) {
            // Entries that are lost without the segment are in it.
            try DamageFixture.write(
                files.filter { $0.key != segment && $0.key != "index" }, marker, to: folder)
            store = try Store.open(at: folder.store)
            archive = try store.archive(named: DamageFixture.archive)
            keysOfSegment[segment] = try Set(
                live.keys.filter { try archive.peek($0) != DamageFixture.value($0, live[$0] ?? 0) })
            store.close()
        }
        self.keysOfSegment = keysOfSegment
    }

    /// Replaces the store in `folder` by this one, with a trusted index.
    func restore(in folder: TemporaryFolder) throws {
        try DamageFixture.write(files, marker, to: folder)
        try folder.adoptIndex(DamageFixture.archive)
    }

    private static func write(_ files: [String: Data], _ marker: Data, to folder: TemporaryFolder) throws {
        try? FileManager.default.removeItem(atPath: folder.store)
        try FileManager.default.createDirectory(
            atPath: folder.store + "/\(archive).archive", withIntermediateDirectories: true)
        try marker.write(to: URL(fileURLWithPath: folder.store + "/vellum-store"))
        for (name, data) in files {
            try data.write(to: URL(fileURLWithPath: folder.archivePath(archive, name)))
        }
    }
}
