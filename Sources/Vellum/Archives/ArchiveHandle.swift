import Logging
import StorageEngine
import Synchronization

/// Minimum microseconds between two checks that the files exist. Removing an archive takes longer.
private let pauseBetweenChecks: Int64 = 50

@usableFromInline package final class ArchiveHandle<Object: Archivable>: @unchecked Sendable {
    let name: String
    private let configuration: Guarded<ArchiveConfiguration>
    private let requests: Guarded<Set<ArchiveRequest>>
    let shared: ArchiveShared<Object>
    let shelf: MemoryShelf
    private let current: Guarded<ArchiveCore<Object>>
    /// Held while the archive is reopened.
    private let reopening = Guarded(())
    private let checkedFiles = Atomic<Int64>(0)

    init(_ archive: Archive, _ request: ArchiveRequest, _ factory: OpenArchives) throws {
        name = archive.name
        requests = Guarded([request])
        shared = ArchiveShared(factory: factory)
        shelf = MemoryShelf(archive: archive)
        let core = ArchiveCore<Object>(archive, shared, shelf)
        current = Guarded(core)
        try core.expectOwnType()
        core.setLifetimes(request)
        try core.apply(request)
        configuration = Guarded(try archive.configuration())
    }

    package var core: ArchiveCore<Object> { current.withLock { $0 } }

    /// All calls go through here, except hits of ``access(_:)``. Calls `body` again after reopening a closed archive.
    @inline(__always)
    package func perform<Value>(_ body: (ArchiveCore<Object>) throws -> Value) throws -> Value {
        let core = core
        do {
            try expectFiles(of: core)
            return try body(core)
        } catch let error as StorageError {
            guard case .closed = error, core.archive.isClosed else { throw error }
            return try performAnew(after: core, body)
        }
    }

    /// Retries, because the archive may be closed again before `body` ends, for as long as a conflicting change would.
    /// A fixed number of tries would end sooner on a slower machine.
    @inline(never)
    private func performAnew<Value>(
        after closed: ArchiveCore<Object>, _ body: (ArchiveCore<Object>) throws -> Value
    ) throws -> Value {
        let start = Archive.bootTime()
        var core = closed
        repeat {
            do {
                core = try reopened(after: core)
                return try body(core)
            } catch let error as StorageError {
                guard case .closed = error else { throw error }
            }
        } while Archive.bootTime() - start < ArchiveCore<Object>.retryTimeout
        throw StorageError.closed(name: name)
    }

    package func log(_ operation: String, _ key: String?, _ error: any Error) {
        shared.log(operation, archive: name, key, error)
    }

    /// Like ``perform(_:)``, but runs `body` outside Swift's cooperative threads, because it may block on the disk
    /// or another process. `body` must not use state of the caller's actor, which keeps running.
    package nonisolated(nonsending) func blocking<Value>(
        _ body: @escaping @Sendable (ArchiveCore<Object>) throws -> Value
    ) async throws -> Value {
        try await BlockingExecutor.run { try self.perform(body) }
    }

    // MARK: Looking up

    /// Inlined into callers that know the type; others would ask the runtime for its optional at each hit.
    @inlinable
    func access(_ name: String) throws -> Object? {
        if let object = try accessInMemory(name) { return object }
        return try accessOnDisk(name)
    }

    @inlinable
    package func accessInMemory(_ name: String) throws -> Object? {
        guard let held = try heldInMemory(name) else { return nil }
        guard held.bytes == nil else { return try decode(held, name) }
        // Safe, because only this archive fills its tier. A checked cast would take longer than the rest of a hit.
        return unsafeDowncast(held, to: HeldValue<Object>.self).value
    }

    @usableFromInline
    func accessOnDisk(_ name: String) throws -> Object? { try perform { try $0.accessOnDisk(name) } }

    @usableFromInline
    func decode(_ held: HeldObject, _ name: String) throws -> Object { try shared.object(of: held, name) }

    @usableFromInline
    func heldInMemory(_ name: String) throws -> HeldObject? {
        let held: HeldObject?
        do throws(StorageError) {
            held = try shelf.access(name)
        } catch {
            guard case .closed = error else { throw error }
            return nil
        }
        if held != nil, shared.sliding != nil { try perform { try $0.slideOnlyHere(name) } }
        return held
    }

    // MARK: Being open

    func apply(_ request: ArchiveRequest) throws {
        checkedFiles.store(0, ordering: .relaxed)
        try perform { core in
            // Lifetimes belong to this process; each request sets them.
            core.setLifetimes(request)
            // Each request that applies its settings does so. A mismatch is logged once; a refusal is thrown each time.
            let isNew = requests.withLock { $0.insert(request).inserted }
            guard isNew || request.appliesSettings else { return }
            do {
                try core.apply(request)
            } catch {
                requests.withLock { _ = $0.remove(request) }
                throw error
            }
            let found = try core.archive.configuration()
            configuration.withLock { $0 = found }
        }
    }

    @inline(__always)
    private func expectFiles(of core: ArchiveCore<Object>) throws(StorageError) {
        let now = Archive.bootTime()
        guard now &- checkedFiles.load(ordering: .relaxed) > pauseBetweenChecks else { return }
        try checkFiles(of: core, at: now)
    }

    @inline(never)
    private func checkFiles(of core: ArchiveCore<Object>, at now: Int64) throws(StorageError) {
        checkedFiles.store(now, ordering: .relaxed)
        if core.archive.closeIfRemoved() { throw .closed(name: name) }
    }

    private func reopened(after closed: ArchiveCore<Object>) throws -> ArchiveCore<Object> {
        var former: MemoryShelf.State?
        defer { withExtendedLifetime(former) {} }
        return try reopening.withLock { _ in
            let present = core
            guard present === closed else { return present }
            let archive = try shared.factory.reopen(named: name, configuration.withLock { $0 })
            let core = ArchiveCore<Object>(archive, shared, shelf)
            try core.expectOwnType()
            former = shelf.begin(archive)
            current.withLock { $0 = core }
            return core
        }
    }
}
