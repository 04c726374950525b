import CBOR
import StorageEngine
import StoreInspection
import SystemC

/// The undo records of a database: copies of keys in an archive of the user's undo store, written before the server's keys are
/// changed. Safe from any thread and process.
struct UndoArchive {
    /// Seconds for which an action can be undone, as in a store.
    static let undoWindow = 600
    /// Maximum bytes of a database's records.
    static let most: UInt64 = 256_000_000

    private let store: Store
    private let archive: Archive
    private let folder: String

    struct Record: Codable {
        let id: UInt32
        let kind: ReversibleAction.Kind
        /// When the action began, or ended if it is complete, to the microsecond. Identifies the action together with the ID.
        var time = Timestamp(microseconds: Clock.preciseWall())
        var entries: UInt32 = 0
        var bytes: UInt64 = 0
        var pid = getpid()
        /// The prefix of the keys of the action's copies. Unique, unlike the ID.
        let token: Int64
        let run: String
        /// Number of copies that an undo has restored or skipped, and removed.
        var undone: UInt32 = 0
        var isOver = false

        var action: ReversibleAction {
            var action = ReversibleAction(id: id, kind: kind, time: time, entries: Int(entries), bytes: bytes)
            action.pid = pid
            return action
        }
    }

    /// A key's state before the change. `deadline`, `newDeadline` and `time` are milliseconds since 1970 by the server's clock,
    /// `idle` is in seconds.
    struct Copy: Codable {
        var key: [UInt8]
        var deadline: Int64?
        /// The value; empty if only the expiry time was changed.
        var dump: [UInt8] = []
        var idle: Int64?
        var frequency: Int64?
        /// The expiry time set by the action; nil: never.
        var newDeadline: Int64?
        /// Maximum milliseconds by which the server's expiry time is later than `newDeadline`; nil if it is exact.
        var slack: Int64?
        var time: Int64 = 0
        /// The time of the copy by this machine's clock.
        var local: Int64?
        var digest: ValueDigest?
        /// Bytes by the server's estimate.
        var size = 0

        /// Milliseconds until a time of the server, computed from this machine's time since the copy; nil: unknown.
        func left(until moment: Int64) -> Int64? {
            local.map { moment &- time &- (Timestamp.now().microseconds / 1000 &- $0) }
        }

        /// Whether this machine's clock and a server's time `now` disagree about whether an expiry time has passed.
        func isExpiryAmbiguous(at now: Int64) -> Bool {
            [deadline, newDeadline].contains { moment in
                guard let moment, let left = left(until: moment) else { return false }
                return moment <= now ? left > 2000 : left < -2000
            }
        }
    }

    /// - Returns: nil if it doesn't exist and `creating` is false.
    init?(in folder: String, for address: ServerAddress, database: Int, creating: Bool) throws(SourceError) {
        let name = UndoArchive.name(address, database)
        let opened: (Store, Archive)? = try SourceError.translating { () throws(StorageError) in
            if !creating, try Store.isStore(at: folder) == false { return nil }
            let store = try Store.open(
                at: folder, mode: .readWrite, createIfMissing: creating,
                options: StoreOptions(processName: "vellum"))
            if !creating {
                let names = try store.archiveNames()
                if !names.contains(where: { ExactText($0) == ExactText(name) }) { return nil }
            }
            let kept = ArchiveConfiguration(kind: .collection, diskLimit: nil, memoryLimit: 0)
            return (store, try store.archive(named: name, orCreate: kept))
        }
        guard let opened else { return nil }
        self.init(store: opened.0, archive: opened.1, folder: folder)
        if creating { try? removeOrphanedLocks() }
    }

    private init(store: Store, archive: Archive, folder: String) {
        (self.store, self.archive, self.folder) = (store, archive, folder)
    }

    /// Removes lock files of killed actions without a record.
    private func removeOrphanedLocks() throws(SourceError) {
        let parent = folder.lastIndex(of: "/").map { folder[...$0] } ?? "./"
        let start = (folder.split(separator: "/").last ?? "") + "-"
        var left: [Int64: String] = [:]
        for file in try StoresFolder.contents(of: String(parent)) where file.name.hasPrefix(start) {
            if let token = Int64(file.name.dropFirst(start.count)) { left[token] = file.path }
        }
        if left.isEmpty { return }
        // An action creates its record before its lock file, so records are read last.
        for name in try SourceError.translating(store.archiveNames()) {
            let archive = try SourceError.translating(store.archive(named: name))
            for record in try UndoArchive(store: store, archive: archive, folder: folder).records() {
                left[record.token] = nil
            }
        }
        for path in left.values { unlink(path) }
    }

    /// The archive's name, shorter than some host names. All host names of this machine share an archive; run IDs distinguish
    /// servers.
    private static func name(_ address: ServerAddress, _ database: Int) -> String {
        let end = "-\(address.port)-db\(database)"
        if address.isLocal { return "localhost" + end }
        let host = address.host.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "-" }
        guard address.host.utf8.count > 40 else { return String(host) + end }
        let sum = Array(address.host.utf8).withUnsafeBytes { Checksum.crc32c($0) }
        return String(host.prefix(30)) + "-\(String(sum, radix: 16))" + end
    }

    func close() { store.close() }

    func freeBytes() throws(SourceError) -> UInt64 {
        try SourceError.translating { () throws(StorageError) in
            let used = try archive.status().diskBytes
            return UndoArchive.most - min(UndoArchive.most, used)
        }
    }

    /// The attributes of a running action's records, which are kept for six hours, or of an action that ended some seconds ago.
    private static func attributes(age: Double?, owner: String? = nil) -> EntryAttributes {
        let window = Double(undoWindow)
        return EntryAttributes(
            lifetime: .seconds(age.map { max(1, min(window, window - $0)) } ?? 6 * 3600), owner: owner)
    }

    private func place(of record: Record) -> String { "\(folder)-\(record.token)" }

    /// The lock of an action; nil: another process carries the action out or undoes it.
    func lock(of record: Record) throws(SourceError) -> ActionLock? { try ActionLock(place(of: record)) }

    private static func key(_ id: UInt32) -> String { "action \(id)" }

    private static func key(_ number: Int, of record: Record) -> String { "\(record.token)/\(number)" }

    /// Creates a record with a new ID, atomically.
    func begin(_ kind: ReversibleAction.Kind, in run: String) throws(SourceError) -> Record {
        let token = Int64.random(in: 1...Int64.max)
        var id = (try records().map(\.id).max() ?? 0) &+ 1
        while true {
            let record = Record(id: id, kind: kind, token: token, run: run)
            let put = try SourceError.translating(
                try archive.put(
                    UndoArchive.encoded(record), forKey: UndoArchive.key(id), ifSequence: nil,
                    encoding: .cbor, attributes: UndoArchive.attributes(age: nil)))
            if put != .changed { return record }
            id &+= 1
        }
    }

    /// Stores a record and deletes copies whose keys an undo has restored or skipped, atomically.
    func update(_ record: Record, deleting copies: [Int] = []) throws(SourceError) {
        let age = record.isOver ? Timestamp.now().seconds(since: record.time) : nil
        var batch = Batch()
        batch.update(
            UndoArchive.encoded(record), forKey: UndoArchive.key(record.id), encoding: .cbor,
            attributes: UndoArchive.attributes(age: age))
        for number in copies { batch.delete(UndoArchive.key(number, of: record)) }
        try SourceError.translating { () throws(StorageError) in _ = try archive.apply(batch) }
    }

    /// Starts the undo window of a complete action and its copies.
    func startUndoWindow(of record: Record, copies: Int) throws(SourceError) {
        for number in 0..<copies {
            let key = UndoArchive.key(number, of: record)
            _ = try SourceError.translating(
                try archive.setLifetime(.seconds(UndoArchive.undoWindow), forKey: key))
        }
        try update(record)
    }

    func keep(_ copies: [Copy], from number: Int, of record: Record) throws(SourceError) {
        try SourceError.translating { () throws(StorageError) in
            for (place, copy) in copies.enumerated() {
                // The owner is the key, which is still known if the copy is damaged.
                let name = KeyName.text(copy.key)
                let owner = 1...255 ~= name.utf8.count ? name : nil
                try archive.put(
                    UndoArchive.encoded(copy), forKey: UndoArchive.key(number + place, of: record),
                    encoding: .cbor, attributes: UndoArchive.attributes(age: nil, owner: owner))
            }
        }
    }

    func deleteCopies(_ numbers: some Sequence<Int>, of record: Record) throws(SourceError) {
        for number in numbers {
            _ = try SourceError.translating(try archive.delete(UndoArchive.key(number, of: record)))
        }
    }

    /// Deletes a record. Its remaining copies expire.
    func end(_ record: Record) throws(SourceError) {
        _ = try SourceError.translating(try archive.delete(UndoArchive.key(record.id)))
    }

    /// A copy; nil if it is absent, damaged or unreadable.
    func copy(_ number: Int, of record: Record) throws(SourceError) -> Copy? {
        let key = UndoArchive.key(number, of: record)
        guard var copy = try decoded(Copy.self, key, orNil: true) else { return nil }
        copy.size = KeyMetadata.size(Int64(copy.size))
        let numbers = [copy.deadline, copy.newDeadline, copy.slack, copy.idle, copy.time, copy.local]
        return numbers.allSatisfy { $0 ?? 0 >= 0 } ? copy : nil
    }

    private static func encoded(_ value: some Encodable) -> [UInt8] {
        // Unreachable, because numbers, texts and bytes can be encoded. Without a record, the keys would be lost.
        do { return try CBOREncoder().encode(value) } catch { preconditionFailure("\(error)") }
    }

    /// The key of an unreadable copy; nil: unknown. O(entries).
    func name(_ number: Int, of record: Record) -> String? {
        guard let entries = try? archive.entries() else { return nil }
        let key = UndoArchive.key(number, of: record)
        return entries.indices.lazy.compactMap { try? entries.metadata(at: $0) }.first { $0.key == key }?
            .owner
    }

    /// - Parameter isSkipped: returns nil for a damaged entry instead of throwing.
    private func decoded<Value: Decodable>(
        _ type: Value.Type, _ key: String, orNil isSkipped: Bool = false
    ) throws(SourceError) -> Value? {
        do throws(StorageError) {
            return try archive.peek(key).flatMap { try? CBORDecoder().decode(type, from: $0) }
        } catch {
            guard case .corrupted = error else { throw SourceError(error.description) }
            if isSkipped { return nil }
            let repair = ShellWord.vellum("check", options: ["--repair"], store: folder)
            throw SourceError("the undo record of \(key) is damaged; to repair it: \(repair)")
        }
    }

    private func keys(beginningWith start: String) throws(SourceError) -> [String] {
        try SourceError.translating { () throws(StorageError) in
            let entries = try archive.entries()
            var keys: [String] = []
            for index in entries.indices {
                if let key = try entries.soundKey(at: index), key.hasPrefix(start) { keys.append(key) }
            }
            return keys
        }
    }

    /// Returns the sorted numbers of an action's copies. O(keys of the archive).
    func numbers(of record: Record) throws(SourceError) -> [Int] {
        let start = "\(record.token)/"
        return try keys(beginningWith: start).compactMap { Int($0.dropFirst(start.count)) }.sorted()
    }

    /// Returns the number of an action's copies and the size of their keys, at least those of the changed keys. Reads all copies.
    func figures(of record: Record) throws(SourceError) -> (entries: Int, bytes: UInt64) {
        let sizes = try numbers(of: record).map { (number) throws(SourceError) in
            try copy(number, of: record)?.size
        }.compactMap { $0 }
        return (sizes.count, sizes.reduce(0) { $0 + UInt64($1) })
    }

    /// Returns the records, latest first.
    /// - Throws: also if one is damaged: it may be the latest.
    func records() throws(SourceError) -> [Record] {
        try keys(beginningWith: "action ").map { (key) throws(SourceError) in
            try decoded(Record.self, key)
        }.compactMap { $0 }.sorted { $0.id > $1.id }
    }
}

/// A file lock held by the process that carries an action out or undoes it. Process IDs would not identify it across containers
/// or a restart. For one thread.
final class ActionLock {
    private let path: String
    private let descriptor: Int32

    fileprivate init?(_ path: String) throws(SourceError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SourceError("\(path) can't be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        (self.path, self.descriptor) = (path, descriptor)
    }

    func release() { unlink(path) }

    deinit { close(descriptor) }
}

extension ReversibleAction.Kind: Codable {}
