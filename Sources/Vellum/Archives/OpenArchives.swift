import Foundation
import Logging
import StorageEngine

/// The store and the archives of an ``ArchivesFactory``.
package final class OpenArchives: Sendable {
    private let opened: Guarded<Opened>
    let defaults = Guarded((memory: 1.megaByte, disk: 2.megaByte))
    private let sharedLogger = Guarded(Logger(label: "vellum") { _ in SwiftLogNoOpLogHandler() })

    private struct Opened {
        var path: String
        var store: Store?
        var isClosed = false
        var archives: [ExactText: Known] = [:]
    }

    private struct Known {
        var type: any Archivable.Type
        var manager: any Sendable & AnyObject
    }

    init(path: String) { opened = Guarded(Opened(path: path)) }

    static func defaultPath() -> String {
        if let path = ProcessInfo.processInfo.environment["VELLUM_STORE"], !path.isEmpty { return path }
        return CachesFolder.path() + "/" + ProcessInfo.processInfo.processName
    }

    var path: String { opened.withLock { $0.path } }

    var logger: Logger {
        get { sharedLogger.withLock { $0 } }
        set { sharedLogger.withLock { $0 = newValue } }
    }

    /// Breaks the reference cycle between the factory and its archives.
    func forgetArchives() { opened.withLock { $0.archives = [:] } }

    func move(to path: String) throws {
        try opened.withLock { opened in
            guard opened.archives.isEmpty || path == opened.path else {
                throw ArchiveError.storeInUse(path: opened.path, wanted: path)
            }
            opened.path = path
        }
    }

    // MARK: Archives

    func archives<Object: Archivable>(_ request: ArchiveRequest) throws -> ArchiveManager<Object> {
        let type = Object.self
        let name = request.name ?? type.archiveName
        let known: ArchiveManager<Object>? = try opened.withLock { opened in
            guard let known = opened.archives[ExactText(name)] else { return nil }
            guard let manager = known.manager as? ArchiveManager<Object> else {
                throw ArchiveError.nameInUse(
                    archive: name, by: known.type.archiveTypeName, wanted: type.archiveTypeName)
            }
            return manager
        }
        guard let known else { return try make(request, named: name) }
        try known.handle.apply(request)
        return known
    }

    private func make<Object: Archivable>(
        _ request: ArchiveRequest, named name: String
    ) throws -> ArchiveManager<Object> {
        let archive = try reopen(
            named: name,
            request.configuration(typeName: Object.archiveTypeName, defaults: defaults.withLock { $0 }))
        let manager = ArchiveManager<Object>(try ArchiveHandle(archive, request, self))
        let isFirst = opened.withLock { opened in
            guard opened.archives[ExactText(name)] == nil else { return false }
            opened.archives[ExactText(name)] = Known(type: Object.self, manager: manager)
            return true
        }
        return isFirst ? manager : try archives(request)
    }

    func reopen(named name: String, _ configuration: ArchiveConfiguration) throws -> Archive {
        while true {
            let store = try presentStore()
            // A stopped process may block this call, so no lock is held here that others need.
            let archive = try store.archive(named: name, orCreate: configuration)
            if opened.withLock({ $0.store === store }) {
                // No call can report entries that the index has lost.
                if let problem = try archive.problem() {
                    logger.warning(
                        "vellum: an archive is damaged",
                        metadata: ["archive": "\(name)", "reason": "\(problem)"])
                }
                return archive
            }
            // The factory was closed during this call, and doesn't have this store.
            store.close()
        }
    }

    private func presentStore() throws -> Store {
        try opened.withLock { opened in
            if let store = opened.store, !store.isPresent {
                logger.warning(
                    "vellum: the store was removed while it was open; it is recreated",
                    metadata: ["store": "\(opened.path)"])
                store.close()
                opened.store = nil
            }
            let store =
                try opened.store
                ?? Store.reopen(at: opened.path) {
                    logger.warning(
                        "vellum: the store's marker file was missing", metadata: ["reason": "\($0)"])
                }
            opened.store = store
            opened.isClosed = false
            return store
        }
    }

    // MARK: Closing

    var isClosed: Bool { opened.withLock { $0.isClosed } }

    func close() {
        let store = opened.withLock { opened in
            defer { opened.store = nil }
            opened.isClosed = true
            return opened.store
        }
        store?.close()
    }
}
