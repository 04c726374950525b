import ArchiveQuery
import Foundation
import Logging
import StorageEngine

/// What an archive of objects does: the two tiers, and the way of an object between them. Its three faces are
/// ``ArchiveManager``, ``ThrowingArchives`` and ``AsynchronousArchives``.
///
/// Safe from any thread: the store and the memory tier guard themselves, and what an object shares with a caller is
/// copied (``HeldObject``).
package final class ArchiveCore<Object: Archivable>: @unchecked Sendable {
    package let archive: Archive
    private let factory: ArchivesFactory.Core
    package let memory: MemoryTier
    let coder = ArchiveCoder<Object>.coder()
    /// What was found out about properties, by the paths to them.
    let proven = Guarded<[PropertyPath: QueryProperty?]>([:])
    /// Guards nothing else.
    private let failures = Guarded(ArchiveFailures())

    init(archive: Archive, factory: ArchivesFactory.Core) {
        self.archive = archive
        self.factory = factory
        memory = MemoryTier(archive: archive)
    }

    /// What nobody is thrown (S4).
    func log(_ operation: String, _ key: String?, _ error: any Error) {
        failures.withLock { $0.logged += 1 }
        factory.logger.warning(
            "vellum: cannot \(operation)",
            metadata: [
                "archive": "\(archive.name)", "key": "\(key ?? "")", "reason": "\(error)",
            ])
    }

    // MARK: Storing (S1, S4)

    func store(_ object: Object, keepsCreation: Bool, attributes: EntryAttributes = .none) throws {
        let name = object.primaryKey
        try withHashed(name) { key in
            let encoded: EncodedObject
            do {
                encoded = try coder.encode(object)
            } catch {
                failures.withLock { $0.unencodable += 1 }
                try archive.noteRejection(of: key, bytes: 0, .unencodable)
                throw ArchiveError.unencodable(
                    type: readableName(of: Object.self), key: name, underlying: error)
            }
            storeProperties(encoded.properties)
            try put(object, encoded, key, name, keepsCreation, attributes)
        }
    }

    private func put(
        _ object: Object, _ encoded: EncodedObject, _ key: HashedKey, _ name: String, _ keepsCreation: Bool,
        _ attributes: EntryAttributes
    ) throws {
        let bytes = encoded.bytes.count
        let held: HeldEntry
        // What only the disk has no room for is kept in memory alone (S11).
        let isOnlyHere = try bytes > diskLimit && bytes <= archive.memoryLimit()
        if isOnlyHere {
            held = try archive.recordInMemoryOnly(key, bytes: UInt64(bytes), attributes: attributes)
        } else {
            held = try encoded.bytes.withUnsafeBytes { value in
                try archive.putToHold(
                    value, forKey: key, encoding: encoded.encoding, attributes: attributes,
                    keepsCreation: keepsCreation)
            }
        }
        let kept = encoded.isShared ? HeldObject(bytes: encoded.bytes) : HeldValue(object)
        try memory.keep(
            kept, key, named: name, held: held, bytes: bytes, origin: .recorded, isOnlyHere: isOnlyHere)
    }

    private var diskLimit: Int {
        get throws { Int(clamping: try archive.diskLimit() ?? .max) }
    }

    /// Properties that are archivable have archives of their own. That one of them could not be stored keeps nobody
    /// from storing the object.
    private func storeProperties(_ properties: [any Archivable]) {
        let isReplacing = Object.archivePropertyBehavior == .replaceExisting
        func store<Property: Archivable>(_ property: Property) throws {
            let core = try factory.archives(for: Property.self, memorySize: 0, diskSize: 0).core
            if !isReplacing, try core.contains(property.primaryKey) { return }
            try core.store(property, keepsCreation: true)
        }
        for property in properties {
            do { try store(property) } catch { log("record a property", property.primaryKey, error) }
        }
    }

    // MARK: Looking up (S2)

    func access(_ name: String) throws -> Object? {
        let found = try memory.access(name)
        if let held = found.object { return try object(of: held, name) }
        return try accessOnDisk(name, hash: found.hash)
    }

    private func accessOnDisk(_ name: String, hash: UInt64) throws -> Object? {
        var contiguous = name
        return try contiguous.withUTF8 { bytes in
            let key = HashedKey(bytes: UnsafeRawBufferPointer(bytes), hash: hash)
            guard let read = try read(key, name, counts: true) else { return nil }
            _ = try archive.access(read.held)
            try memory.keep(
                read.kept, key, named: name, held: read.held, bytes: read.bytes, origin: .read)
            return read.object
        }
    }

    func peek(_ name: String) throws -> Object? {
        try withHashed(name) { key in
            if let held = try memory.peek(key, named: name) { return try object(of: held, name) }
            return try read(key, name, counts: false)?.object
        }
    }

    /// Whether there is an object of this key, without any trace. What only another process has in its memory is none.
    func contains(_ name: String) throws -> Bool {
        guard let metadata = try archive.metadata(name) else { return false }
        if metadata.tier != .memory { return true }
        return try withHashed(name) { try memory.peek($0, named: name) != nil }
    }

    func latestAccess(_ name: String) throws -> Date? {
        try archive.metadata(name).map { Date(timeIntervalSince1970: $0.accessed.secondsSince1970) }
    }

    private func object(of held: HeldObject, _ name: String) throws -> Object {
        guard let bytes = held.bytes else {
            // Only this archive fills its tier. A checked cast would take longer than all the rest of a hit.
            return unsafeDowncast(held, to: HeldValue<Object>.self).value
        }
        return try bytes.withUnsafeBytes { try decode($0, name).object }
    }

    private struct Read {
        var object: Object
        var kept: HeldObject
        var held: HeldEntry
        var bytes: Int
    }

    /// The object of a key from disk, without any trace but that of a miss if `counts`. Bytes that are no object (any
    /// more) are told of, stay where they are, and are none.
    private func read(_ key: HashedKey, _ name: String, counts: Bool) throws -> Read? {
        var result: Result<Read, any Error>?
        try archive.withPeekToHold(key) { bytes, held in
            result = Result {
                let decoded = try decode(bytes, name)
                let kept = decoded.isShared ? HeldObject(bytes: [UInt8](bytes)) : HeldValue(decoded.object)
                return Read(object: decoded.object, kept: kept, held: held, bytes: bytes.count)
            }
        }
        guard let result else {
            // Counts the miss, and removes what has expired.
            if counts { try archive.withAccessToHold(key) { _, _ in } }
            return nil
        }
        do {
            return try result.get()
        } catch {
            if counts { try archive.countMiss() }
            noteUndecodable(name, error)
            return nil
        }
    }

    /// Tells of a stored value that is no object.
    func noteUndecodable(_ name: String, _ error: any Error) {
        try? withHashed(name) { try archive.noteUndecodable($0) }
        failures.withLock { $0.undecodable += 1 }
        log("read", name, error)
    }

    private func decode(_ bytes: UnsafeRawBufferPointer, _ name: String) throws -> DecodedObject<Object> {
        do {
            return try coder.decode(bytes)
        } catch {
            throw ArchiveError.undecodable(
                type: readableName(of: Object.self), key: name, underlying: error)
        }
    }

    // MARK: Many at once (S7)

    /// An object that was looked at, and how to make an access of that afterwards.
    struct Seen {
        var object: Object
        var name: String
    }

    func accessAll(limit: Int) throws -> [Object] {
        try count(Array(allObjects().prefix(max(0, limit))))
    }

    func process(_ queries: [Query<Object>]) throws -> [Object] {
        if let predicate = try encodedPredicate(of: queries) { return try count(ask(predicate, queries)) }
        return try count(Query.run(queries, over: allObjects()) { $0.object })
    }

    /// All objects, the most recent first, each read when it is asked for; nothing is moved into memory for it.
    private func allObjects() throws -> some Sequence<Seen> {
        let list = try archive.entries()
        return list.indices.lazy.compactMap { [self] index -> Seen? in
            // What another process has in its memory under the same key is no object of this one.
            guard list.isReachable(at: index) else { return nil }
            var name = "entry \(index)"
            do {
                guard let key = try list.presentKey(at: index) else { return nil }
                name = key
                return try peek(name).map { Seen(object: $0, name: name) }
            } catch {
                log("read", name, error)
                return nil
            }
        }
    }

    /// Counts an access of each, the last one first, so that the first of them is the most recent afterwards.
    private func count(_ seen: [Seen]) throws -> [Object] {
        for item in seen.reversed() {
            try withHashed(item.name) { key in
                if try memory.access(key, named: item.name) == nil {
                    try archive.withAccessToHold(key) { _, _ in }
                }
            }
        }
        return seen.map(\.object)
    }

    // MARK: Deleting

    func delete(_ name: String) throws {
        try withHashed(name) { key in
            try archive.delete(name)
            try memory.forget(key, named: name)
        }
    }

    func deleteAll() throws {
        try archive.deleteAll()
        try memory.forgetAll()
    }

    func deleteAll(ofOwner owner: String) throws {
        try archive.deleteEntries(ofOwner: owner)
        _ = try memory.currentBytes()
    }

    func deleteIdle(longerThan interval: Duration) throws {
        try archive.deleteIdle(longerThan: interval)
        _ = try memory.currentBytes()
    }

    // MARK: Sizes

    func maxSizes() throws -> (memory: Int, disk: Int, both: Int) {
        let memory = Int(clamping: try archive.memoryLimit())
        let disk = try diskLimit
        return (memory, disk, memory.addingReportingOverflow(disk).overflow ? .max : memory + disk)
    }

    func currentSizes() throws -> (memory: Int, disk: Int, both: Int) {
        let disk = Int(clamping: try archive.diskBytes())
        let memory = try memory.currentBytes()
        return (memory, disk, memory + disk)
    }

    func resize(memory memorySize: Int?, disk diskSize: Int?) throws {
        let now = try archive.configuration()
        try archive.setLimits(
            disk: diskSize.map { UInt64(max(1, $0)) } ?? now.diskLimit,
            memory: memorySize.map { UInt64(max(0, $0)) } ?? now.memoryLimit)
        _ = try memory.currentBytes()
    }

    func statistics() throws -> ArchiveStatistics {
        let bytes = try memory.currentBytes()
        return ArchiveStatistics(
            status: try archive.status(), memory: memory.counts, memoryBytes: bytes,
            failures: failures.withLock { $0 })
    }

    /// Calls `body` with a key and its hash.
    private func withHashed<Value>(_ name: String, _ body: (HashedKey) throws -> Value) throws -> Value {
        var name = name
        return try name.withUTF8 { try body(archive.hashed(UnsafeRawBufferPointer($0))) }
    }
}
