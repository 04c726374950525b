import Foundation
import Logging
import StorageEngine

/// Opens a store and returns its archives, one for each type. Safe from any thread.
///
/// ```swift
/// let users = try ArchivesFactory.shared.archives(for: User.self, trySetMaxDiskSize: 20.megaByte)
/// users.record(User(userName: "ada", age: 36))
/// ```
///
/// The store is opened with the first archive. Any number of processes may use it at the same time, and the `vellum`
/// browser shows its content. If the store's folder, or an archive in it, is removed while it is open, the next call
/// recreates it and logs that, or fails with the reason. The content is lost, but an object in memory may still be
/// found for some seconds.
public final class ArchivesFactory: Sendable {
    /// The factory of this program's store: the folder in the environment variable `VELLUM_STORE`, otherwise one with
    /// the program's name in the user's caches folder.
    public static let shared = ArchivesFactory()

    private let core: OpenArchives

    /// The folder of the store.
    public var storePath: String { core.path }

    /// Moves the factory to another folder, before the first archive is requested. Throws
    /// ``ArchiveError/storeInUse(path:wanted:)`` if archives are in use already, because they would keep using the
    /// former store.
    public func useStore(at path: String) throws { try core.move(to: path) }

    /// Closes the store and its archives in this process, and releases their files and address space, except each
    /// archive's index, which stays mapped until the next call or the factory's release. Stored objects are as safe as
    /// the durability guarantees. Loops over ``ArchiveManager/changes`` end. Archives of this factory stay usable: the
    /// next call on one opens the store again.
    public func close() { core.close() }

    /// A factory for the store in this folder, by default that of ``shared``, which is created with the first archive.
    public init(storePath: String? = nil) {
        core = OpenArchives(path: storePath ?? OpenArchives.defaultPath())
    }

    /// As ``init(storePath:)``, for a file URL.
    public convenience init(store: URL) { self.init(storePath: store.path) }

    deinit { core.forgetArchives() }

    /// Failures of calls that don't throw are logged here. Discards everything by default.
    public var logger: Logger {
        get { core.logger }
        set { core.logger = newValue }
    }

    /// Limit in bytes for the objects in each process's memory, of archives that are created without one; at first 1 megabyte.
    public var defaultMaxMemorySize: Int {
        get { core.defaults.withLock { $0.memory } }
        set { core.defaults.withLock { $0.memory = newValue } }
    }

    /// Limit in bytes for the objects on disk, of caches that are created without one; at first 2 megabytes.
    public var defaultMaxDiskSize: Int {
        get { core.defaults.withLock { $0.disk } }
        set { core.defaults.withLock { $0.disk = newValue } }
    }

    /// The archive of a type in this store. Further calls return the same object. The type may be inferred from the
    /// context.
    ///
    /// Sizes, kind, durability and eviction policy apply when the archive is created in this store. An existing archive keeps its own.
    /// If the settings here differ, that is logged; with `appliesSettings` they are applied, permanently and for all
    /// processes. The kind can't be changed: a different one is refused.
    ///
    /// For a `Sendable` type memory holds the objects themselves. For other types it holds their bytes, so an access
    /// costs a decoding. Only the compiler knows which types are `Sendable`: in a generic function whose parameter
    /// isn't declared so, this call holds bytes, until the archive is requested where the type is known to be
    /// `Sendable`.
    ///
    /// - Parameters:
    ///   - type: the type of the objects.
    ///   - name: 1 to 80 bytes of UTF-8, for types with several archives; `nil`: the ``Archivable/archiveName``.
    ///   - memorySize: limit in bytes for each process's memory; 0 or less means ``defaultMaxMemorySize``.
    ///   - diskSize: limit in bytes on disk; 0 or less means ``defaultMaxDiskSize``. A collection has no such limit.
    ///   - kind: `cache`, which evicts its least recently used objects to keep its limit, or `collection`, which keeps
    ///     all objects until they are deleted; `nil`: the existing kind, `cache` for a new archive.
    ///   - durability: what survives a system crash; `nil`: the existing one, `process` for a new archive.
    ///   - evictionPolicy: how a cache selects the objects that it evicts from disk; `nil`: the existing policy, `lru` for a new
    ///     archive. With `s3fifo`, programs of earlier versions can't open the archive.
    ///   - lifetime: the lifetime of objects that this process records without one; `nil`: the one set before in this
    ///     process, otherwise until they are deleted or evicted.
    ///   - slides: whether a use of an object in this process (an access, an update or
    ///     ``ArchiveManager/touch(archiveWithKey:expiresIn:)``) renews its lifetime: it then lives for `lifetime` from that use,
    ///     or up to an eighth longer, because not every use is stored. Objects with more time left, or without a
    ///     lifetime, keep it. A lifetime given by a call lasts until the object is used. (One that another process
    ///     gives less than that eighth may end while it is used here.)
    ///   - appliesSettings: whether sizes, kind, durability and policy that differ are applied to an existing archive.
    /// - Throws: ``StorageError`` if the store or the archive can't be opened;
    ///   ``ArchiveError/nameInUse(archive:by:wanted:)`` if the archive of that name holds objects of another type;
    ///   ``ArchiveError/otherKind(archive:is:wanted:)``.
    public func archives<Object: Archivable & Sendable>(
        for type: Object.Type = Object.self, named name: String? = nil,
        trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0,
        kind: ArchiveKind? = nil, durability: Durability? = nil,
        evictionPolicy: EvictionPolicy? = nil, lifetime: Duration? = nil, slides: Bool = false,
        appliesSettings: Bool = false
    ) throws -> ArchiveManager<Object> {
        let manager: ArchiveManager<Object> = try core.archives(
            ArchiveRequest(
                name: name, memorySize: memorySize, diskSize: diskSize, kind: kind, durability: durability,
                evictionPolicy: evictionPolicy, appliesSettings: appliesSettings, lifetime: lifetime,
                slides: slides))
        manager.handle.shared.markSendable()
        return manager
    }

    /// The same for a type that isn't known to be `Sendable`.
    public func archives<Object: Archivable>(
        for type: Object.Type = Object.self, named name: String? = nil,
        trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0,
        kind: ArchiveKind? = nil, durability: Durability? = nil,
        evictionPolicy: EvictionPolicy? = nil, lifetime: Duration? = nil, slides: Bool = false,
        appliesSettings: Bool = false
    ) throws -> ArchiveManager<Object> {
        try core.archives(
            ArchiveRequest(
                name: name, memorySize: memorySize, diskSize: diskSize, kind: kind, durability: durability,
                evictionPolicy: evictionPolicy, appliesSettings: appliesSettings, lifetime: lifetime,
                slides: slides))
    }

    /// As `archives(for:named:trySetMaxMemorySize:trySetMaxDiskSize:kind:durability:evictionPolicy:lifetime:slides:appliesSettings:)`.
    public func archives<Object: Archivable & Sendable>(
        for type: Object.Type, trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0
    ) throws -> ArchiveManager<Object> {
        try archives(
            for: type, named: nil, trySetMaxMemorySize: memorySize, trySetMaxDiskSize: diskSize)
    }

    /// The same for a type that isn't known to be `Sendable`.
    public func archives<Object: Archivable>(
        for type: Object.Type, trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0
    ) throws -> ArchiveManager<Object> {
        try archives(
            for: type, named: nil, trySetMaxMemorySize: memorySize, trySetMaxDiskSize: diskSize)
    }

    /// Performs calls of this factory, which open or close files, on a thread of a system queue, and returns their
    /// result: `let users = try await factory.perform { try $0.archives(for: User.self) }`. Throws the errors of `body`.
    public nonisolated(nonsending) func perform<Value>(
        _ body: @escaping @Sendable (ArchivesFactory) throws -> sending Value
    ) async throws -> Value {
        try await BlockingExecutor.run { try body(self) }
    }
}
