import StorageEngine
import Vellum

/// The calls of ``RemoteArchives`` for asynchronous code, which don't block the caller's thread.
public struct AsynchronousRemoteArchives<Object: Archivable>: @unchecked Sendable {
    @usableFromInline let archives: RemoteArchives<Object>

    /// As ``RemoteArchives/access(_:)``.
    @inlinable
    public nonisolated(nonsending) func access(_ key: String) async throws -> Object? {
        if let object = try archives.near.accessInMemory(key) { return object }
        return try await accessElsewhere(key)
    }

    @usableFromInline
    nonisolated(nonsending) func accessElsewhere(_ key: String) async throws -> Object? {
        let archives = archives
        if let write = archives.behind?.write(of: key) {
            return try archives.object(of: .success(write.kept), key)
        }
        if let object = try await archives.near.elsewhere({ try archives.accessOnDisk($0, key) }) {
            return object
        }
        var outcome = await withCheckedContinuation { continuation in
            archives.fetch(key, blocking: false) { continuation.resume(returning: $0) }
        }
        while true {
            switch outcome {
            case .finished(let result): return try archives.object(of: result, key)
            case .answered(let fetch, let answer):
                if let result = try await Elsewhere.run({ archives.finish(fetch, answer) }) {
                    return try archives.object(of: result, key)
                }
                outcome = await withCheckedContinuation { continuation in
                    let present = fetch.join(false) { continuation.resume(returning: $0) }
                    if let present { continuation.resume(returning: present) }
                }
            }
        }
    }

    /// As ``RemoteArchives/record(_:expiresIn:inMemory:owner:)``.
    public nonisolated(nonsending) func record(
        _ object: Object, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) async throws {
        let archives = archives
        let change = try archives.begin(object, lifetime, memoryLifetime, owner)
        if let behind = archives.behind {
            return try await Elsewhere.run { try archives.keep(change, behind) }
        }
        let answer = await withCheckedContinuation { continuation in
            archives.store(change) { continuation.resume(returning: $0) }
        }
        try await Elsewhere.run { try archives.finish(change, answer) }
    }

    /// As ``RemoteArchives/delete(_:)``.
    @discardableResult
    public nonisolated(nonsending) func delete(_ key: String) async throws -> Bool {
        let archives = archives
        if let behind = archives.behind {
            return try await Elsewhere.run { try archives.delete(key, behind) }
        }
        let ticket = archives.coverage.begin(key)
        let answer = await withCheckedContinuation { continuation in
            archives.space.delete(key) { continuation.resume(returning: $0) }
        }
        return try await Elsewhere.run { try archives.finishDeletion(of: key, ticket, answer) }
    }

    /// As ``RemoteArchives/deleteAll(ofOwner:)``.
    @discardableResult
    public nonisolated(nonsending) func deleteAll(ofOwner owner: String? = nil) async throws -> Int {
        let archives = archives
        try EntryAttributes(owner: owner).validate()
        try await flush()
        let answer = await withCheckedContinuation { continuation in
            archives.space.deleteAll(ofOwner: owner) { continuation.resume(returning: $0) }
        }
        return try await Elsewhere.run { try archives.finishDeletion(ofOwner: owner, answer) }
    }

    /// As ``RemoteArchives/expire(_:in:)``.
    @discardableResult
    public nonisolated(nonsending) func expire(_ key: String, in lifetime: Duration?) async throws -> Bool {
        let archives = archives
        try await flush()
        let ticket = archives.coverage.begin(key)
        let answer = await withCheckedContinuation { continuation in
            archives.space.expire(key, in: lifetime) { continuation.resume(returning: $0) }
        }
        return try await Elsewhere.run { try archives.finishDeletion(of: key, ticket, answer) }
    }

    /// As ``RemoteArchives/flush(within:)``.
    public nonisolated(nonsending) func flush(within longest: Duration = .seconds(10)) async throws {
        guard let behind = archives.behind else { return }
        let end = ContinuousClock.now + longest
        while behind.counts.keys > 0 {
            guard .now < end else { throw archives.stillWaiting(behind) }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// As ``RemoteArchives/statistics()``.
    public nonisolated(nonsending) func statistics() async throws -> RemoteStatistics {
        let archives = archives
        return try await archives.near.elsewhere { _ in try archives.statistics() }
    }
}
