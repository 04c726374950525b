import Foundation
import StorageEngine
import TestSupport
import Testing

/// A temporary folder, which is removed on release.
final class TemporaryFolder: Sendable {
    let path: String

    /// `inMemory` if the medium doesn't matter, since syncs take time.
    init(inMemory: Bool = false) throws {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let hasMemory = inMemory && FileManager.default.isWritableFile(atPath: memory.path)
        let base = hasMemory ? memory : FileManager.default.temporaryDirectory
        let folder = base.appendingPathComponent("vellum-test-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit { if !isKept.withLock({ $0 }) { discard(path) } }

    private let isKept = Guarded(false)

    /// Keeps the folder for diagnosis, and prints its path.
    func keep() {
        isKept.withLock { $0 = true }
        print("kept: \(path)")
    }

    var store: String { path + "/store" }
    /// Churning workers end when this file exists.
    var stopFile: String { path + "/stop" }

    func files(inArchive name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: store + "/" + name + ".archive").sorted()
    }

    func segments(_ name: String = "A") throws -> [String] {
        try files(inArchive: name).filter { $0.hasSuffix(".segment") }
    }

    func removeIndex(_ name: String) throws {
        try FileManager.default.removeItem(atPath: archivePath(name, "index"))
    }

    func archivePath(_ name: String, _ file: String) -> String { store + "/" + name + ".archive/" + file }

    /// Opens an archive of the store.
    func archive(_ name: String = "A", mode: AccessMode = .readWrite) throws(StorageError) -> Archive {
        try Store.open(at: store, mode: mode).archive(named: name)
    }

    /// Opens an archive, or creates it.
    func archive(
        _ name: String = "A", creating configuration: ArchiveConfiguration, locking: LockingMode = .automatic
    ) throws(StorageError) -> Archive {
        try Store.open(at: store, options: StoreOptions(locking: locking))
            .archive(named: name, orCreate: configuration)
    }

    /// Opens an archive during `body`.
    @discardableResult
    func withArchive<Result>(
        _ name: String = "A", mode: AccessMode = .readWrite, _ body: (Archive) throws -> Result
    ) throws -> Result {
        let archive = try archive(name, mode: mode)
        defer { archive.close() }
        return try body(archive)
    }

    /// Repairs an archive that no process has open.
    @discardableResult
    func repair(_ name: String = "A") throws(StorageError) -> RepairReport {
        let store = try Store.open(at: store)
        defer { store.close() }
        return try store.repair(archiveNamed: name)
    }

    /// Checks an archive as an observer.
    func check(_ name: String = "A") throws -> CheckReport {
        try withArchive(name, mode: .readOnly) { try $0.check() }
    }

    /// Closes an archive, and opens it with its index or, if `rebuilding`, with one made from its log.
    func reopen(_ archive: Archive, rebuilding: Bool = true) throws -> Archive {
        let name = archive.name
        archive.close()
        return rebuilding ? try rebuilt(name) : try self.archive(name)
    }

    /// Opens an archive with an index rebuilt from its log.
    func rebuilt(_ name: String = "A") throws -> Archive {
        try removeIndex(name)
        return try archive(name)
    }
}

extension ArchiveConfiguration {
    static let collection = ArchiveConfiguration(kind: .collection, diskLimit: nil)

    static func cache(_ limit: UInt64? = 2_000_000) -> ArchiveConfiguration {
        ArchiveConfiguration(kind: .cache, diskLimit: limit)
    }

    static func log(_ limit: UInt64? = 2_000_000) -> ArchiveConfiguration {
        ArchiveConfiguration(kind: .log, diskLimit: limit)
    }
}

extension Archive {
    /// Expects that index and log have no errors and agree.
    func expectValid(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try invariantViolations() == [], comment, sourceLocation: sourceLocation)
        #expect(try check().problems == [], comment, sourceLocation: sourceLocation)
    }

    /// The present entries with these keys, for a plan.
    func planned(_ keys: some Sequence<String>) throws(StorageError) -> [PlannedEntry] {
        var planned: [PlannedEntry] = []
        for key in keys {
            guard let sequence = try metadata(key)?.sequence else { continue }
            planned.append(PlannedEntry(key: key, sequence: sequence))
        }
        return planned
    }
}

extension EntryAttributes {
    /// Attributes of an entry that expires after this time, or never.
    static func expiring(_ lifetime: Duration?) -> EntryAttributes { EntryAttributes(lifetime: lifetime) }
}

extension Batch {
    static func numbered(_ number: UInt64) -> Batch {
        var batch = Batch()
        for (key, value) in NumberedBatches.changes(number) {
            if let value { batch.put(value, forKey: key) } else { batch.delete(key) }
        }
        return batch
    }
}

/// Runs `body` with a new archive A under a manual clock, where nothing happens in the background.
func withManualClock(
    _ configuration: ArchiveConfiguration, inMemory: Bool = false,
    _ body: (Archive, TemporaryFolder, ClockHand) throws -> Void
) throws {
    let hand = ClockHand()
    try Clock.$hand.withValue(hand) {
        let folder = try TemporaryFolder(inMemory: inMemory)
        try body(folder.archive(creating: configuration), folder, hand)
    }
}

func contents(of path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

extension EntryList {
    /// All keys in the list's order.
    var keys: [String] {
        get throws(StorageError) {
            var keys: [String] = []
            for index in indices { if let key = try key(at: index) { keys.append(key) } }
            return keys
        }
    }
}

extension ArchiveSnapshot {
    func contents() throws -> [String: [UInt8]] {
        try (0..<count).reduce(into: [:]) { $0[try key(at: $1)] = try value(at: $1) }
    }
}

/// A number of equal bytes.
func repeated(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

extension Error {
    /// The file or folder that a `StorageError` reports as damaged.
    var damagedFile: String? {
        if case .corrupted(let path, _, _)? = self as? StorageError { path } else { nil }
    }

    var isClosed: Bool { if case .closed? = self as? StorageError { true } else { false } }
    var isNoSpace: Bool { if case .noSpace? = self as? StorageError { true } else { false } }
    var isNotAStore: Bool { if case .notAStore? = self as? StorageError { true } else { false } }
}

/// Changes bytes of a file in place, so that it keeps its inode.
func overwrite(_ path: String, at offset: Int, with bytes: some Sequence<UInt8>) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data(bytes))
}

/// Flips bits of a byte in place.
func flip(_ path: String, at offset: Int, _ bits: UInt8 = 0x10) throws {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.seek(toOffset: UInt64(offset))
    try overwrite(path, at: offset, with: [(file.read(upToCount: 1)?.first ?? 0) ^ bits])
}

/// Flips a bit of the first byte of a text in a file, and returns its offset.
@discardableResult
func flip(_ path: String, text: String) throws -> Int {
    let offset = try #require(contents(of: path).range(of: Data(text.utf8))?.lowerBound)
    try flip(path, at: offset)
    return offset
}

/// Replaces a file by its changed contents.
func change(file path: String, _ body: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    body(&data)
    try data.write(to: URL(fileURLWithPath: path))
}
