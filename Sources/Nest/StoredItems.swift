import Foundation
import StorageEngine

/// The items on disk: an archive of a store. Safe from any thread; the nest sees to it that one thread at a time changes what
/// is under a key.
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

    /// What was found damaged when the archive was opened.
    var damage: String? { lock.withLock { problem } }

    /// An entry as it is on disk.
    struct Found {
        var value: [UInt8]
        var mark: StoredMark
    }

    /// Stores an item in the place of what was there.
    func put(_ value: [UInt8], forKey key: String, seconds: Double) throws -> StoredMark {
        let now = NestClock.now()
        let deadline = NestClock.moment(seconds, after: now)
        let attributes = EntryAttributes(
            lifetime: deadline == .max ? nil : .nanoseconds(deadline - now),
            owner: OwnedKey.owner(of: key).flatMap { OwnedKey.canBeNamed($0) ? $0 : nil })
        let mark = try withArchive(makes: true) { (archive) throws(StorageError) in
            while true {
                let present = try archive.sequence(of: key)
                let outcome = try archive.put(
                    value, forKey: key, ifSequence: present, encoding: .cbor, attributes: attributes)
                if case .stored(let sequence) = outcome {
                    return StoredMark(sequence: sequence, deadline: deadline)
                }
            }
        }
        // Others remove it as often as it is made.
        guard let mark else { throw StorageError.noSuchArchive(name: name, store: path) }
        return mark
    }

    /// Whether there may be anything under it: a store takes keys of 1 to 1,024 bytes.
    private static func isPossible(_ key: String) -> Bool { (1...1_024).contains(key.utf8.count) }

    func find(_ key: String) throws -> Found? {
        guard StoredItems.isPossible(key) else { return nil }
        return try withArchive { (archive) throws(StorageError) -> Found? in
            guard let found = try archive.currentWithExpiry(key) else { return nil }
            _ = try archive.touch(key)
            let left = found.expires.map { Double($0.microseconds - Timestamp.now().microseconds) / 1e6 }
            let end = left.map { NestClock.moment($0, after: NestClock.now()) } ?? .max
            return Found(
                value: found.entry.value, mark: StoredMark(sequence: found.entry.sequence, deadline: end))
        } ?? nil
    }

    /// Number of what is stored under the key; `nil` if nothing is.
    func sequence(of key: String) throws -> UInt64? {
        guard StoredItems.isPossible(key) else { return nil }
        return try withArchive { (archive) throws(StorageError) in try archive.sequence(of: key) }
            ?? nil
    }

    /// Whether the last that is known of the key is that it was removed, and not that its time was over.
    func wasRemoved(_ key: String) throws -> Bool {
        guard StoredItems.isPossible(key) else { return false }
        let end = try withArchive { (archive) throws(StorageError) in
            try archive.history(of: key).events.last { [.delete, .expiry, .eviction].contains($0.kind) }?.kind
        }
        return end == .delete
    }

    /// - Parameter isLikely: whether something may well be there; else a store that wasn't there a moment ago isn't looked for.
    func remove(_ key: String, isLikely: Bool) throws {
        guard StoredItems.isPossible(key) else { return }
        if !isLikely, lock.withLock({ archive == nil && lastAbsence > NestClock.now() - 1_000_000_000 }) {
            return
        }
        _ = try withArchive { (archive) throws(StorageError) in
            // Most items are in memory only; to find that out takes no lock.
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
                    // Nobody can tell whose the damaged ones are, and nobody can read them.
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

    /// `nil`: there is none, and nothing has been stored so far.
    private func withArchive<Value>(
        makes: Bool = false, _ body: (Archive) throws(StorageError) -> Value
    ) throws -> Value? {
        guard let archive = try open(makes: makes) else { return nil }
        do throws(StorageError) {
            return try body(archive)
        } catch {
            guard case .closed = error else { throw error }
            // Its store was removed, or this is another process than the one that opened it.
            lock.withLock { if self.archive === archive { self.archive = nil } }
            return try open(makes: makes).map { (archive) throws(StorageError) in try body(archive) }
        }
    }

    private func open(makes: Bool) throws(StorageError) -> Archive? {
        lock.lock()
        defer { lock.unlock() }
        // What is stored into files that somebody has removed nobody finds again.
        if let archive, !archive.closeIfRemoved() { return archive }
        do throws(StorageError) {
            let store = try Store.open(at: path, mode: .readWrite, createIfMissing: makes)
            archive =
                makes
                ? try store.archive(
                    named: name, orCreate: ArchiveConfiguration(kind: .collection, typeName: "Nest"))
                : try store.archive(named: name)
            problem = try archive?.problem()
        } catch {
            switch error {
            case .storeNotFound, .noSuchArchive:
                if makes { throw error }
                lastAbsence = NestClock.now()
                return nil
            default: throw error
            }
        }
        return archive
    }
}
