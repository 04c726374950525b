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
/// shows what is in it meanwhile.
public final class ArchivesFactory: Sendable {
    /// The factory of this program's own store: the folder that the environment variable `VELLUM_STORE` names, else one
    /// with the name of the program in the user's folder for caches.
    public static let shared = ArchivesFactory()

    private let core: Core

    /// The folder of the store.
    public var storePath: String { core.path }

    /// - Parameter storePath: the store's folder, which is made with the first archive; by default the program's own
    ///   (``shared``).
    public init(storePath: String? = nil) { core = Core(path: storePath ?? Core.defaultPath()) }

    /// As ``init(storePath:)``, for a file URL.
    public convenience init(store: URL) { self.init(storePath: store.path) }

    deinit { core.forgetArchives() }

    /// What could not be done by a call that doesn't throw is told here. Silent unless set.
    public var logger: Logger {
        get { core.logger }
        set { core.logger = newValue }
    }

    /// The archive of a type, in this store under the type's `archiveName`.
    ///
    /// The sizes count only when the archive is made in this store; one that exists keeps its own, which
    /// ``ArchiveManager/resize(memory:disk:)`` changes. Calling again gives the same object.
    ///
    /// - Parameters:
    ///   - memorySize: most bytes of encoded objects that each process keeps in memory; 1 megabyte unless it is more
    ///     than 0.
    ///   - diskSize: most bytes of encoded objects on disk, for all processes together; 2 megabytes unless it is more
    ///     than 0.
    /// - Throws: `StorageError` if the store or the archive can't be opened, ``ArchiveError`` if another type has the
    ///   same name.
    public func archives<Archive: Archivable>(
        for type: Archive.Type, trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0
    ) throws -> ArchiveManager<Archive> {
        try core.archives(for: type, memorySize: memorySize, diskSize: diskSize)
    }

    /// The same for the type that the context says.
    public func archives<Archive: Archivable>(
        trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0
    ) throws -> ArchiveManager<Archive> {
        try core.archives(for: Archive.self, memorySize: memorySize, diskSize: diskSize)
    }
}

extension ArchivesFactory {
    /// What the factory and its archives share: the archives need it for properties that have archives of their own.
    final class Core: Sendable {
        static let defaultMemorySize = 1.megaByte
        static let defaultDiskSize = 2.megaByte

        let path: String
        private let opened = Guarded(Opened())
        private let sharedLogger = Guarded(Logger(label: "vellum") { _ in SwiftLogNoOpLogHandler() })

        private struct Opened {
            var store: Store?
            /// By name, with the type that each is of.
            var managers: [ExactText: (type: any Archivable.Type, manager: any Sendable & AnyObject)] = [:]
        }

        init(path: String) { self.path = path }

        static func defaultPath() -> String {
            if let path = ProcessInfo.processInfo.environment["VELLUM_STORE"], !path.isEmpty { return path }
            return CachesFolder.path() + "/" + ProcessInfo.processInfo.processName
        }

        var logger: Logger {
            get { sharedLogger.withLock { $0 } }
            set { sharedLogger.withLock { $0 = newValue } }
        }

        /// Breaks the ring of references between the factory and its archives.
        func forgetArchives() { opened.withLock { $0.managers = [:] } }

        func archives<Archive: Archivable>(
            for type: Archive.Type, memorySize: Int, diskSize: Int
        ) throws -> ArchiveManager<Archive> {
            try opened.withLock { opened in
                let name = type.archiveName
                if let known = opened.managers[ExactText(name)] {
                    guard let manager = known.manager as? ArchiveManager<Archive> else {
                        throw ArchiveError.nameInUse(
                            archive: name, by: readableName(of: known.type),
                            wanted: readableName(of: type))
                    }
                    return manager
                }
                let store = try opened.store ?? Store.open(at: path)
                opened.store = store
                let archive = try store.archive(
                    named: name,
                    orCreate: ArchiveConfiguration(
                        diskLimit: UInt64(diskSize > 0 ? diskSize : Core.defaultDiskSize),
                        memoryLimit: UInt64(memorySize > 0 ? memorySize : Core.defaultMemorySize),
                        typeName: readableName(of: type)))
                let manager = ArchiveManager<Archive>(archive: archive, core: self)
                opened.managers[ExactText(name)] = (type, manager)
                return manager
            }
        }
    }
}
