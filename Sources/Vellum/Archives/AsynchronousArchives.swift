import Dispatch
import Foundation

/// The calls of an ``ArchiveManager`` for asynchronous code: `try await users.asynchronous.record(user)`. They throw as
/// those of ``ThrowingArchives`` do, and don't hold up the thread of their caller while they wait for the disk or for a
/// process that is changing the archive.
public struct AsynchronousArchives<Archive: Archivable>: @unchecked Sendable {
    let core: ArchiveCore<Archive>

    /// Waiting blocks a thread, and the threads of Swift's concurrency must not be blocked.
    private static func queue() -> DispatchQueue { .global(qos: .userInitiated) }

    /// Objects that can't be shared between threads are copied by the archive before they are kept, and here nobody
    /// else has them until the call has returned.
    private struct Carried<Value>: @unchecked Sendable {
        let value: Value
    }

    private func perform<Value>(_ body: @escaping (ThrowingArchives<Archive>) throws -> Value) async throws
        -> Value
    {
        let (core, body) = (core, Carried(value: body))
        let result: Carried<Result<Value, any Error>> = await withCheckedContinuation { continuation in
            AsynchronousArchives.queue().async {
                let archives = ThrowingArchives(core: core)
                continuation.resume(returning: Carried(value: Result { try body.value(archives) }))
            }
        }
        return try result.value.get()
    }

    /// As ``ArchiveManager/record(_:)``, with a lifetime on disk and one in memory (`nil`: as long as there is room), and an owner
    /// of 1 to 255 bytes.
    public func record(
        _ object: Archive, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) async throws {
        try await perform {
            try $0.record(object, expiresIn: lifetime, inMemory: memoryLifetime, owner: owner)
        }
    }

    /// As ``ArchiveManager/update(_:)``; lifetimes and owner are the new ones, `nil` for none.
    public func update(
        _ object: Archive, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) async throws {
        try await perform {
            try $0.update(object, expiresIn: lifetime, inMemory: memoryLifetime, owner: owner)
        }
    }

    /// As ``ArchiveManager/access(archiveWithKey:)``.
    public func access(archiveWithKey key: String) async throws -> Archive? {
        try await perform { try $0.access(archiveWithKey: key) }
    }

    /// As ``ArchiveManager/peek(archiveWithKey:)``.
    public func peek(archiveWithKey key: String) async throws -> Archive? {
        try await perform { try $0.peek(archiveWithKey: key) }
    }

    /// As ``ArchiveManager/accessAll(limitedBy:)``.
    public func accessAll(limitedBy limit: Int = .max) async throws -> [Archive] {
        try await perform { try $0.accessAll(limitedBy: limit) }
    }

    /// As ``ArchiveManager/process(queries:)``.
    public func process(queries: [Query<Archive>]) async throws -> [Archive] {
        try await perform { try $0.process(queries: queries) }
    }

    /// As ``ArchiveManager/delete(archiveWithKey:)``.
    public func delete(archiveWithKey key: String) async throws {
        try await perform { try $0.delete(archiveWithKey: key) }
    }

    /// As ``ArchiveManager/deleteAll()``.
    public func deleteAll() async throws { try await perform { try $0.deleteAll() } }

    /// As ``ArchiveManager/deleteAll(ofOwner:)``.
    public func deleteAll(ofOwner owner: String) async throws {
        try await perform { try $0.deleteAll(ofOwner: owner) }
    }

    /// As ``ArchiveManager/deleteAllInvalidateArchives(invalidateTimeInterval:)``.
    public func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval) async throws {
        try await perform {
            try $0.deleteAllInvalidateArchives(invalidateTimeInterval: invalidateTimeInterval)
        }
    }

    /// As ``ArchiveManager/resize(memory:disk:)``.
    public func resize(memory: Int? = nil, disk: Int? = nil) async throws {
        try await perform { try $0.resize(memory: memory, disk: disk) }
    }
}
