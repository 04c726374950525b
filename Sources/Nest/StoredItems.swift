import Foundation
import StorageEngine

/// The items on disk. The nest lets one thread at a time change a key's entry.
final class StoredItems: @unchecked Sendable {
    let path: String
    let name: String
    private let lock = NSLock()
    // Guarded by `lock`.
    private var archive: Archive?
    private var lastAbsence = Int64.min
    private var problem: String?

    init(path: String, name: String) {
        self.path = path
        self.name = name
    }

    var damage: String? { lock.withLock { problem } }

    struct Found {
        var value: [UInt8]
        var mark: StoredMark
    }

    func put(_ value: [UInt8], forKey key: String, seconds: Double) throws -> StoredMark {
        let now = NestClock.now()
        let expiry = NestClock.moment(seconds, after: now)
        let attributes = EntryAttributes(
            lifetime: expiry == .max ? nil : .nanoseconds(expiry - now),
            owner: OwnedKey.owner(of: key).flatMap { OwnedKey.canBeNamed($0) ? $0 : nil })
        let mark = try withArchive(creates: true) { (archive) throws(StorageError) in
            while true {
                let firstEvent = try archive.nextEvent()
                let present = try archive.sequence(of: key)
                let outcome = try archive.put(
                    value, forKey: key, ifSequence: present, encoding: .cbor, attributes: attributes)
                if case .stored(let sequence) = outcome {
                    return StoredMark(
                        sequence: sequence, expiry: expiry, firstEvent: firstEvent, isOwn: true)
                }
            }
        }
        // Another process removed the archive after each creation.
        guard let mark else { throw StorageError.noSuchArchive(name: name, store: path) }
        return mark
    }

    private static func isPossible(_ key: String) -> Bool { (1...1_024).contains(key.utf8.count) }

    func find(_ key: String) throws -> Found? {
        guard StoredItems.isPossible(key) else { return nil }
        return try withArchive { (archive) throws(StorageError) -> Found? in
            let firstEvent = try archive.nextEvent()
            guard let found = try archive.currentWithExpiry(key) else { return nil }
            _ = try archive.touch(key)
            let left = found.expires.map { Double($0.microseconds - Timestamp.now().microseconds) / 1e6 }
            let end = left.map { NestClock.moment($0, after: NestClock.now()) } ?? .max
            return Found(
                value: found.entry.value,
                mark: StoredMark(
                    sequence: found.entry.sequence, expiry: end, firstEvent: firstEvent, isOwn: false))
        } ?? nil
    }

    /// Records an access to the entry of an item that was read from memory, so that the entry isn't idle. Ignores failures.
    func noteAccess(_ key: String) {
        _ = try? withArchive { (archive) throws(StorageError) in try archive.touch(key) }
    }

    func sequence(of key: String) throws -> UInt64? {
        guard StoredItems.isPossible(key) else { return nil }
        return try withArchive { (archive) throws(StorageError) in try archive.sequence(of: key) }
            ?? nil
    }

    /// If the missing entry of `mark` expired and was not replaced, the number of the archive's next event; otherwise `nil`.
    /// If events were lost, it counts as replaced while another process has the archive open. `known`: the result of an
    /// earlier call, from which on events are read.
    func expiredWithoutReplacement(_ key: String, _ mark: StoredMark, knownBefore known: UInt64?) throws
        -> UInt64?
    {
        let before = try withArchive { (archive) throws(StorageError) -> UInt64? in
            let now = try archive.nextEvent()
            if now == known { return now }
            let first = known ?? mark.firstEvent
            let events = try archive.history(of: key).events.filter { $0.sequence >= first }
            let next = try archive.nextEvent()
            guard next >= first, next - first <= UInt64(Archive.keptEvents) else {
                return try archive.processes().count(where: \.isAlive) <= 1 ? now : nil
            }
            let stored = events.count { [.record, .update, .restore].contains($0.kind) }
            let end = events.last { [.delete, .expiry, .eviction].contains($0.kind) }?.kind
            return stored <= (known == nil && mark.isOwn ? 1 : 0) && end != .delete ? now : nil
        }
        // The archive was removed, and the item with it.
        return before ?? nil
    }

    /// - Parameter isLikely: if false, trusts for a second that the store is absent, instead of searching for it again.
    func remove(_ key: String, isLikely: Bool) throws {
        guard StoredItems.isPossible(key) else { return }
        if !isLikely, lock.withLock({ archive == nil && lastAbsence > NestClock.now() - 1_000_000_000 }) {
            return
        }
        _ = try withArchive { (archive) throws(StorageError) in
            // Most items are in memory only; checking that takes no lock.
            guard try archive.sequence(of: key) != nil else { return }
            try archive.delete(key)
        }
    }

    func removeAll() throws {
        _ = try withArchive { (archive) throws(StorageError) in _ = try archive.deleteAll() }
    }

    func removeAll(ofOwner owner: String) throws {
        _ = try withArchive { (archive) throws(StorageError) in
            if !OwnedKey.canBeNamed(owner) {
                let list = try archive.entries()
                for index in list.indices {
                    // The owner of a damaged key is unknown, and its entry is unreadable.
                    guard let key = try list.soundKey(at: index),
                        OwnedKey.owner(of: key).map({ ExactText($0) }) == ExactText(owner)
                    else { continue }
                    try archive.delete(key)
                }
            } else {
                _ = try archive.deleteEntries(ofOwner: owner)
            }
        }
    }

    func removeExpired() throws {
        _ = try withArchive { (archive) throws(StorageError) in _ = try archive.removeExpired() }
    }

    // MARK: The archive

    /// Calls `body` with the archive; `nil` if the archive is absent and `creates` is false.
    private func withArchive<Value>(
        creates: Bool = false, _ body: (Archive) throws(StorageError) -> Value
    ) throws -> Value? {
        guard let archive = try open(creates: creates) else { return nil }
        do throws(StorageError) {
            return try body(archive)
        } catch {
            guard case .closed = error else { throw error }
            // The store was removed, or this is a fork of the process that opened it.
            lock.withLock { if self.archive === archive { self.archive = nil } }
            return try open(creates: creates).map { (archive) throws(StorageError) in try body(archive) }
        }
    }

    private func open(creates: Bool) throws(StorageError) -> Archive? {
        lock.lock()
        defer { lock.unlock() }
        // Entries that are stored in removed files would be lost.
        if let archive, !archive.closeIfRemoved() { return archive }
        do throws(StorageError) {
            var remark: String?
            let store = try Store.reopen(at: path, createIfMissing: creates) { remark = $0 }
            let found =
                creates
                ? try store.archive(
                    named: name, orCreate: ArchiveConfiguration(kind: .collection, typeName: "Nest"))
                : try store.archive(named: name)
            try found.require(.collection, ofType: "Nest")
            archive = found
            problem = try found.problem() ?? remark
        } catch {
            switch error {
            case .storeNotFound, .noSuchArchive:
                if creates { throw error }
                lastAbsence = NestClock.now()
                return nil
            default: throw error
            }
        }
        return archive
    }
}
