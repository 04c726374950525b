import ArchiveQuery
import Foundation
import Logging
import StorageEngine

/// The implementation of an archive of objects: two tiers, and how objects move between them. Reached by
/// ``ArchiveHandle``. Safe from any thread: both tiers do their own locking, and objects that share state are copied
/// (``HeldObject``).
package final class ArchiveCore<Object: Archivable>: @unchecked Sendable {
    package let archive: Archive
    package let memory: MemoryTier
    package let shared: ArchiveShared<Object>
    let unread = Guarded(UnreadValues())
    let proven = Guarded<[PropertyPath: QueryProperty?]>([:])

    var factory: OpenArchives { shared.factory }
    var coder: ArchiveCoder<Object> { shared.coder }
    package var flights: Flights { shared.flights }

    init(_ archive: Archive, _ shared: ArchiveShared<Object>, _ shelf: MemoryShelf) {
        self.archive = archive
        self.shared = shared
        memory = MemoryTier(archive: archive, shelf: shelf)
    }

    func log(_ operation: String, _ key: String?, _ error: any Error) {
        shared.log(operation, archive: archive.name, key, error)
    }

    var diskLimit: Int { get throws { Int(clamping: try archive.diskLimit() ?? .max) } }

    package func keepsObjects(_ isShared: Bool) -> Bool { shared.keepsObjects(isShared) }

    // MARK: Looking up (S2)

    func access(_ name: String) throws -> Object? {
        let held = try withHashed(name) { try memory.access($0, named: name) }
        guard let held else { return try accessOnDisk(name) }
        if shared.sliding != nil { try slideOnlyHere(name) }
        return try object(of: held, name)
    }

    func peekInMemory(_ name: String) throws -> Object? {
        try withHashed(name) { key in try memory.peek(key, named: name).map { try object(of: $0, name) } }
    }

    /// - Parameter isOutdated: if true, the object isn't taken into memory.
    package func accessOnDisk(_ name: String, unless isOutdated: () -> Bool = { false }) throws -> Object? {
        try shared.times.measure(.access) {
            try withHashed(name) { key in
                guard let read = try read(key, name, counts: true) else { return nil }
                if try archive.access(read.held, isFromDisk: true) == false { try archive.countHit(of: key) }
                try slide(name)
                try memory.keep(
                    read.kept, key, named: name, held: read.held, bytes: read.bytes, origin: .read,
                    atMost: shared.sliding?.pause(of: nil), unless: isOutdated)
                return read.object
            }
        }
    }

    func peek(_ name: String) throws -> Object? {
        try withHashed(name) { key in
            if let held = try memory.peek(key, named: name) { return try object(of: held, name) }
            return try read(key, name, counts: false)?.object
        }
    }

    /// Whether there is an object with this key, not only in another process's memory. No access.
    func contains(_ name: String) throws -> Bool {
        guard let metadata = try archive.metadata(name) else { return false }
        if metadata.tier != .memory { return true }
        return try withHashed(name) { try memory.peek($0, named: name) != nil }
    }

    func latestAccess(_ name: String) throws -> Date? {
        try archive.metadata(name).map { Date(timeIntervalSince1970: $0.accessed.secondsSince1970) }
    }

    package func object(of held: HeldObject, _ name: String) throws -> Object {
        try shared.object(of: held, name)
    }

    private struct Read {
        var object: Object
        var kept: HeldObject
        var held: HeldEntry
        var bytes: Int
    }

    /// Reads a key's object from disk. No access; counts a miss if `counts`. Undecodable bytes are reported as misses.
    private func read(_ key: HashedKey, _ name: String, counts: Bool) throws -> Read? {
        var result: Result<Read, any Error>?
        try archive.withPeekToHold(key) { bytes, held in
            result = Result {
                let decoded = try shared.decode(bytes, name)
                let kept =
                    if keepsObjects(decoded.isShared) {
                        HeldValue(decoded.object)
                    } else if decoded.isMigrated {
                        // Keep the migrated bytes, so that later accesses needn't migrate the value again.
                        HeldObject(bytes: try coder.encode(decoded.object).bytes)
                    } else {
                        HeldObject(bytes: [UInt8](bytes))
                    }
                return Read(object: decoded.object, kept: kept, held: held, bytes: bytes.count)
            }
        }
        guard let result else {
            // Not through an access: the key may have been recorded just now, and that would count a hit.
            if counts { try archive.countMiss(of: key) }
            return nil
        }
        do {
            return try result.get()
        } catch {
            if counts { try archive.countMiss(of: key) }
            reportUnreadable(name, error)
            // With `nil`, callers would replace the value.
            if let error = error as? ArchiveError, error.isNewerVersion { throw error }
            return nil
        }
    }

    // MARK: Many at once (S7)

    package struct Seen {
        package var object: Object
        package var name: String
        /// Number of the operation that stored it; 0 if the caller doesn't need it.
        package var sequence: UInt64 = 0
    }

    func accessAll(limit: Int) throws -> [Object] {
        try count(
            atOneMoment({ try latest(limit).objects }) { snapshot in
                let all = try places(in: snapshot, meeting: nil)
                return Array(objects(at: all, of: snapshot).prefix(max(0, limit)))
            })
    }

    /// The most recent objects, at most `limit`, and how many entries were visited. No access.
    package func latest(_ limit: Int) throws -> (objects: [Seen], visited: Int) {
        guard limit > 0 else { return ([], 0) }
        if limit <= Archive.mostLatestKeys, let latest = try archive.latestKeys(limit) {
            let objects = latest.keys.compactMap { name in
                peekOrLog(name).map { Seen(object: $0, name: name) }
            }
            // If some couldn't be decoded, read further ones.
            if objects.count == latest.keys.count || latest.keys.count < limit {
                return (objects, latest.looked)
            }
        }
        return (Array(try allObjects().prefix(limit)), try archive.entryCount())
    }

    private func peekOrLog(_ name: String) -> Object? {
        do {
            return try peekIfKnown(name)
        } catch {
            log("read", name, error)
            return nil
        }
    }

    func peekIfKnown(_ name: String) throws -> Object? {
        do {
            return try peek(name)
        } catch let error as ArchiveError where error.isNewerVersion {
            return nil
        }
    }

    func process(_ queries: [Query<Object>]) throws -> [Object] { try count(seen(by: queries)) }

    /// All objects, the most recent first. Reads each when the sequence reaches it, and moves none into memory.
    func allObjects() throws -> some Sequence<Seen> {
        let list = try archive.entries()
        return list.indices.lazy.compactMap { [self] index -> Seen? in
            // An object that only another process has in memory can't be read here.
            guard list.isReachable(at: index) else { return nil }
            var name = "entry \(index)"
            do {
                guard let key = try list.presentKey(at: index) else { return nil }
                name = key
                return peekOrLog(name).map { Seen(object: $0, name: name) }
            } catch {
                log("read", name, error)
                return nil
            }
        }
    }

    private func count(_ seen: [Seen]) throws -> [Object] {
        try countAccesses(seen.map(\.name))
        return seen.map(\.object)
    }

    /// Counts an access of each, in reverse, so that the first key is the most recent afterwards.
    func countAccesses(_ names: [String]) throws {
        for name in names.reversed() {
            try withHashed(name) { key in
                if try memory.access(key, named: name) == nil {
                    try archive.withAccessToHold(key) { _, _ in }
                }
            }
            if shared.sliding != nil { try slide(name) }
        }
    }

    // MARK: Deleting

    package func delete(_ name: String) throws {
        try shared.times.measure(.delete) {
            try withHashed(name) { key in
                recordInOpenTransactions(name)
                flights.outdate(name)
                try archive.delete(name)
                try memory.forget(key, named: name)
            }
        }
    }

    package func deleteAll() throws {
        flights.outdateAll()
        try archive.deleteAll()
        _ = try memory.currentBytes()
    }

    package func deleteAll(ofOwner owner: String) throws {
        flights.outdate(ofOwner: owner)
        try archive.deleteEntries(ofOwner: owner)
        _ = try memory.currentBytes()
    }

    func deleteIdle(longerThan interval: Duration) throws {
        try archive.deleteIdle(longerThan: interval)
        _ = try memory.currentBytes()
    }

    // MARK: Sizes

    func maxSizes() throws -> ArchiveSizes {
        ArchiveSizes(memory: Int(clamping: try archive.memoryLimit()), disk: try diskLimit)
    }

    func currentSizes() throws -> ArchiveSizes {
        let disk = Int(clamping: try archive.diskBytes())
        return ArchiveSizes(memory: try memory.currentBytes(), disk: disk)
    }

    /// A missing size means the default for a new archive, and no change for an existing one.
    func resize(memory memorySize: Int?, disk diskSize: Int?) throws {
        guard diskSize ?? 1 > 0, memorySize ?? 0 >= 0 else {
            throw StorageError.invalidConfiguration(
                reason: "a size is at least 1 byte on disk and 0 in memory; omit it to leave it unchanged")
        }
        let now = try archive.configuration()
        try archive.setLimits(
            disk: diskSize.map { UInt64($0) } ?? now.diskLimit,
            memory: memorySize.map { UInt64($0) } ?? now.memoryLimit)
        _ = try memory.currentBytes()
    }

    package func statistics() throws -> ArchiveStatistics {
        let bytes = try memory.currentBytes()
        return ArchiveStatistics(
            status: try archive.status(), memory: memory.counts, memoryBytes: bytes,
            failures: shared.failures.withLock { $0 }, undecodable: unread.withLock { $0.stale.count },
            newer: unread.withLock { $0.newer.count })
    }

    @inline(__always)
    func withHashed<Value>(_ name: String, _ body: (HashedKey) throws -> Value) throws -> Value {
        var name = name
        return try name.withUTF8 { try body(archive.hashed(UnsafeRawBufferPointer($0))) }
    }
}
