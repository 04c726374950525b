import Foundation
import Logging
import StorageEngine

/// Gives out the archives of a store, one for each type. Safe from any thread.
///
/// ```swift
/// let users = try ArchivesFactory.shared.archives(for: User.self, trySetMaxDiskSize: 20.megaByte)
/// users.record(User(userName: "ada", age: 36))
/// ```
///
/// The store is opened with the first archive. Any number of processes may use it at once, and the `vellum` browser
/// shows what is in it meanwhile. If somebody removes the store's folder while it is open, or an archive of it, the next call
/// makes it anew, and logs that, or fails with the reason why it can't be made; what was in it is gone. An object in memory
/// may be found for some seconds more.
public final class ArchivesFactory: Sendable {
    /// The factory of this program's own store: the folder that the environment variable `VELLUM_STORE` names, else one
    /// with the name of the program in the user's folder for caches.
    public static let shared = ArchivesFactory()

    private let core: Core

    /// The folder of the store.
    public var storePath: String { core.path }

    /// Has the store in another folder, before the first archive is asked for: for a program that learns only when it runs
    /// where ``shared`` is to keep its store.
    /// - Throws: ``ArchiveError/storeInUse(path:wanted:)`` when it is too late for that: those who have an archive would go on
    ///   with the other store.
    public func useStore(at path: String) throws { try core.move(to: path) }

    /// Closes the store and its archives in this process, and gives back their files and addresses. What was stored is kept as
    /// the durability promises. Loops over ``ArchiveManager/changes`` end.
    ///
    /// Nothing has to be asked for anew: whoever uses an archive of this factory afterwards has the store opened again.
    public func close() { core.close() }

    /// The factory of the store in that folder, which is made with the first archive.
    /// - Parameter storePath: by default the program's own folder (``shared``).
    public init(storePath: String? = nil) { core = Core(path: storePath ?? Core.defaultPath()) }

    /// As ``init(storePath:)``, for a file URL.
    public convenience init(store: URL) { self.init(storePath: store.path) }

    deinit { core.forgetArchives() }

    /// What could not be done by a call that doesn't throw is told here. Silent unless set.
    public var logger: Logger {
        get { core.logger }
        set { core.logger = newValue }
    }

    /// The archive of a type, in this store under the type's ``Archivable/archiveName``. Calling again gives the same object.
    ///
    /// Sizes count when the archive is made in this store; one that exists keeps its own. If what is given here differs from
    /// that, it is logged.
    ///
    /// Of a `Sendable` type memory keeps objects themselves, of others their bytes, which makes an access cost what decoding
    /// does. Only the compiler knows which types are: within a generic function whose parameter isn't said to be `Sendable`
    /// this call takes the second way until the archive is asked for where it is known.
    ///
    /// - Parameters:
    ///   - memorySize: most bytes of encoded objects that each process keeps in memory; 1 megabyte unless it is more
    ///     than 0.
    ///   - diskSize: most bytes of encoded objects on disk, for all processes together; 2 megabytes unless it is more
    ///     than 0. A collection has no such limit.
    /// - Throws: ``StorageError`` if the store or the archive can't be opened; ``ArchiveError/nameInUse(archive:by:wanted:)``
    ///   if the archive of that name holds objects of another type.
    public func archives<Archive: Archivable & Sendable>(
        for type: Archive.Type, trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0
    ) throws -> ArchiveManager<Archive> {
        try proven(ArchiveRequest(memorySize: memorySize, diskSize: diskSize))
    }

    /// The same for a type that isn't known to be `Sendable`.
    public func archives<Archive: Archivable>(
        for type: Archive.Type, trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0
    ) throws -> ArchiveManager<Archive> {
        try core.archives(ArchiveRequest(memorySize: memorySize, diskSize: diskSize))
    }

    /// The archive of a type, which may be the one that the context says, with more to say about it.
    ///
    /// Sizes, kind and durability count when the archive is made in this store; one that exists keeps its own. If what is
    /// given here differs from that, it is logged, or applied for all processes and for good if `appliesSettings` says so; a
    /// kind can't be changed and is refused.
    ///
    /// - Parameters:
    ///   - name: 1 to 80 bytes of UTF-8, for a type that has several archives; `nil`: the type's ``Archivable/archiveName``.
    ///   - kind: `cache`, which evicts its least recently used objects to keep its limit, or `collection`, which keeps all
    ///     until they are deleted and has no limit on disk; `nil`: what it is, and `cache` if it is made.
    ///   - durability: what survives a crash of the system; `nil`: as it is, and `process` if it is made.
    ///   - lifetime: how long objects live that this process records without a lifetime of their own; `nil`: as it was said
    ///     before in this process, or until they are deleted or evicted.
    ///   - slides: whether a use of an object in this process, by an access, an update or ``ArchiveManager/touch(archiveWithKey:)``,
    ///     lets it live for `lifetime` from then on, and up to an eighth longer, for not every use is written down. Objects that
    ///     have more left keep that, and such as live without end go on doing so.
    /// - Throws: also ``ArchiveError/otherKind(archive:is:wanted:)``.
    public func archives<Archive: Archivable & Sendable>(
        for type: Archive.Type = Archive.self, named name: String? = nil,
        trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0,
        kind: ArchiveKind? = nil, durability: Durability? = nil,
        lifetime: Duration? = nil, slides: Bool = false, appliesSettings: Bool = false
    ) throws -> ArchiveManager<Archive> {
        try proven(
            ArchiveRequest(
                name: name, memorySize: memorySize, diskSize: diskSize, kind: kind, durability: durability,
                appliesSettings: appliesSettings, lifetime: lifetime, slides: slides))
    }

    /// The same for a type that isn't known to be `Sendable`.
    public func archives<Archive: Archivable>(
        for type: Archive.Type = Archive.self, named name: String? = nil,
        trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0,
        kind: ArchiveKind? = nil, durability: Durability? = nil,
        lifetime: Duration? = nil, slides: Bool = false, appliesSettings: Bool = false
    ) throws -> ArchiveManager<Archive> {
        try core.archives(
            ArchiveRequest(
                name: name, memorySize: memorySize, diskSize: diskSize, kind: kind, durability: durability,
                appliesSettings: appliesSettings, lifetime: lifetime, slides: slides))
    }

    private func proven<Archive: Archivable & Sendable>(
        _ request: ArchiveRequest
    ) throws -> ArchiveManager<Archive> {
        let manager: ArchiveManager<Archive> = try core.archives(request)
        manager.handle.shared.noteSendable()
        return manager
    }
}

/// What code says about an archive.
struct ArchiveRequest: Sendable, Hashable {
    /// `nil`: the type's.
    var name: String?
    /// 0 and less: nothing.
    var memorySize = 0
    var diskSize = 0
    var kind: ArchiveKind?
    var durability: Durability?
    var appliesSettings = false
    var lifetime: Duration?
    var slides = false
}
