import StorageEngine
import Vellum

/// The calls of ``RemoteArchives`` for asynchronous code, which don't block the caller's thread.
public struct AsynchronousRemoteArchives<Object: Archivable>: @unchecked Sendable {
    @usableFromInline let archives: RemoteArchives<Object>

    /// See ``RemoteArchives/access(_:)``.
    @inlinable
    public nonisolated(nonsending) func access(_ key: String) async throws -> Object? {
        if let object = try archives.near.accessInMemory(key) { return object }
        return try await accessRemote(key)
    }

    @usableFromInline
    nonisolated(nonsending) func accessRemote(_ key: String) async throws -> Object? {
        if let write = archives.behind?.write(of: key) {
            return try archives.object(of: .success(write.kept), key)
        }
        // Another thread costs more than the access, so it is only used for a copy that may be trusted.
        if archives.tracking.mayTrust(key),
            let object = try await archives.near.blocking({ try archives.accessOnDisk($0, key) })
        {
            return object
        }
        var found = try await BlockingExecutor.run(after: { archives.fetch(key, blocking: false, $0) }) {
            try archives.found($0, key)
        }
        while case .notYet(let fetch) = found {
            found = try await BlockingExecutor.run(
                after: { then in if let outcome = fetch.join(false, then) { then(outcome) } }
            ) { try archives.found($0, key) }
        }
        if case .object(let object) = found { return object }
        return nil
    }

    /// See ``RemoteArchives/record(_:options:)``.
    public nonisolated(nonsending) func record(
        _ object: Object, options: EntryOptions = EntryOptions()
    ) async throws {
        let change = try archives.begin(object, options)
        if let behind = archives.behind {
            return try await BlockingExecutor.run { try archives.keep(change, behind) }
        }
        try await BlockingExecutor.run(after: { archives.store(change, $0) }) {
            try archives.finish(change, $0)
        }
    }

    /// See ``RemoteArchives/delete(_:)``.
    @discardableResult
    public nonisolated(nonsending) func delete(_ key: String) async throws -> Bool {
        if let behind = archives.behind {
            return try await BlockingExecutor.run { try archives.delete(key, behind) }
        }
        let ticket = archives.tracking.begin(key)
        return try await BlockingExecutor.run(after: { archives.space.delete(key, $0) }) {
            try archives.finishDeletion(of: key, ticket, $0)
        }
    }

    /// See ``RemoteArchives/deleteAll(ofOwner:)``.
    @discardableResult
    public nonisolated(nonsending) func deleteAll(ofOwner owner: String? = nil) async throws -> Int {
        try EntryAttributes(owner: owner).validate()
        try await flush()
        return try await BlockingExecutor.run(after: { archives.space.deleteAll(ofOwner: owner, $0) }) {
            try archives.finishDeletion(ofOwner: owner, $0)
        }
    }

    /// See ``RemoteArchives/expire(_:in:)``.
    @discardableResult
    public nonisolated(nonsending) func expire(_ key: String, in lifetime: Duration?) async throws -> Bool {
        try await flush()
        let ticket = archives.tracking.begin(key)
        return try await BlockingExecutor.run(after: { archives.space.expire(key, in: lifetime, $0) }) {
            try archives.finishDeletion(of: key, ticket, $0)
        }
    }

    /// See ``RemoteArchives/flush(within:)``.
    public nonisolated(nonsending) func flush(within longest: Duration = .seconds(10)) async throws {
        guard let behind = archives.behind else { return }
        let end = ContinuousClock.now + longest
        while behind.counts.keys > 0 {
            guard .now < end else { throw archives.stillWaiting(behind) }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// See ``RemoteArchives/statistics()``.
    public nonisolated(nonsending) func statistics() async throws -> RemoteStatistics {
        try await archives.near.blocking { _ in try archives.statistics() }
    }
}
