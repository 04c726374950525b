import Logging
import StorageEngine
import Synchronization

/// What the faces of an archive have in common: the archive as it is open now. One that was closed, or removed by whoever, is
/// opened or made anew by the next call. Safe from any thread.
package final class ArchiveHandle<Object: Archivable>: @unchecked Sendable {
    let name: String
    /// What the archive had when it was last asked for, for one that is made in its place.
    private let configuration: Guarded<ArchiveConfiguration>
    /// What it was asked for with, so that a difference is told of once.
    private let requests: Guarded<Set<ArchiveRequest>>
    let shared: ArchiveShared<Object>
    let shelf: MemoryShelf
    private let current: Guarded<ArchiveCore<Object>>
    /// Held by who opens the archive anew.
    private let turn = Guarded(())
    /// When it was last looked whether the archive's files are there, on the boot clock.
    private let looked = Atomic<Int64>(0)

    /// Microseconds between two of these looks. To remove an archive takes longer, so whoever removed it has the next call
    /// notice that.
    private static var pause: Int64 { 50 }

    init(_ archive: Archive, _ request: ArchiveRequest, _ factory: ArchivesFactory.Core) throws {
        name = archive.name
        requests = Guarded([request])
        shared = ArchiveShared(factory: factory)
        shelf = MemoryShelf(archive: archive)
        let core = ArchiveCore<Object>(archive, shared, shelf)
        current = Guarded(core)
        try core.expectOwnType()
        try core.settle(request)
        configuration = Guarded(try archive.configuration())
    }

    /// The archive as it was opened last.
    package var core: ArchiveCore<Object> { current.withLock { $0 } }

    /// The way of all calls but the hit of ``access(_:)``: `body` is called again with the archive that was opened or made
    /// anew, if this one turns out to be closed.
    @inline(__always)
    func perform<Value>(_ body: (ArchiveCore<Object>) throws -> Value) throws -> Value {
        let core = core
        do {
            try expectFiles(of: core)
            return try body(core)
        } catch let error as StorageError {
            guard case .closed = error, core.archive.isClosed else { throw error }
            return try performAnew(after: core, body)
        }
    }

    /// It may be closed again meanwhile, though not for ever.
    @inline(never)
    private func performAnew<Value>(
        after closed: ArchiveCore<Object>, _ body: (ArchiveCore<Object>) throws -> Value
    ) throws -> Value {
        var core = closed
        for _ in 0..<100 {
            do {
                core = try reopened(after: core)
                return try body(core)
            } catch let error as StorageError {
                guard case .closed = error else { throw error }
            }
        }
        throw StorageError.closed(name: name)
    }

    /// What nobody is thrown (S4).
    func log(_ operation: String, _ key: String?, _ error: any Error) {
        shared.log(operation, archive: name, key, error)
    }

    /// As ``perform(_:)`` for what may wait for the disk or another process, off the threads of Swift's concurrency. `body` may
    /// use nothing that its caller's actor guards: that goes on meanwhile.
    nonisolated(nonsending) func elsewhere<Value>(
        _ body: @escaping @Sendable (ArchiveCore<Object>) throws -> Value
    ) async throws -> Value {
        try await Elsewhere.run { try self.perform(body) }
    }

    // MARK: Looking up

    func access(_ name: String) throws -> Object? {
        // Without an optional of the generic type on the way, which would cost more than the hit.
        if let held = try heldInMemory(name) { return try shared.object(of: held, name) }
        return try perform { try $0.accessOnDisk(name) }
    }

    /// The object of a key if memory has it.
    func accessInMemory(_ name: String) throws -> Object? {
        guard let held = try heldInMemory(name) else { return nil }
        return try shared.object(of: held, name)
    }

    @inline(__always)
    private func heldInMemory(_ name: String) throws(StorageError) -> HeldObject? {
        do throws(StorageError) {
            return try shelf.access(name)
        } catch {
            // Opened anew it has none in memory.
            guard case .closed = error else { throw error }
            return nil
        }
    }

    // MARK: Being open

    /// Applies what is asked for, or tells that the archive has something else, once for each request.
    func settle(_ request: ArchiveRequest) throws {
        looked.store(0, ordering: .relaxed)
        try perform { core in
            // What is to be applied is, each time; what is only compared is told of once, and refused as often as it is asked for.
            let isNew = requests.withLock { $0.insert(request).inserted }
            guard isNew || request.appliesSettings else { return }
            do {
                try core.settle(request)
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
        guard now &- looked.load(ordering: .relaxed) > ArchiveHandle.pause else { return }
        try lookForFiles(of: core, at: now)
    }

    @inline(never)
    private func lookForFiles(of core: ArchiveCore<Object>, at now: Int64) throws(StorageError) {
        looked.store(now, ordering: .relaxed)
        if core.archive.closeIfRemoved() { throw .closed(name: name) }
    }

    private func reopened(after closed: ArchiveCore<Object>) throws -> ArchiveCore<Object> {
        try turn.withLock { _ in
            let present = core
            guard present === closed else { return present }
            let archive = try shared.factory.reopen(named: name, configuration.withLock { $0 })
            let core = ArchiveCore<Object>(archive, shared, shelf)
            try core.expectOwnType()
            shelf.begin(archive)
            current.withLock { $0 = core }
            return core
        }
    }
}
