import ServerInspection
import StorageEngine
import StoreInspection

/// The source that the browser was started with, and those of servers and ring files opened beside it. Safe from any thread.
package final class OpenSources: Sendable {
    private let first: any StoreSource
    private let others = Guarded<[String: any StoreSource]>([:])
    /// The source of stores; nil: `first`, in tests.
    private let engine: EngineSource?

    package init(_ first: any StoreSource) {
        self.first = first
        engine =
            first as? EngineSource ?? (first as? ServerSource)?.remembers
            ?? (first as? RingFileSource).map { $0.remembers ?? EngineSource() }
    }

    /// - Parameter store: nil: the list of stores.
    func source(of store: String?) -> any StoreSource {
        guard let store, store != first.folder else { return first }
        return others.withLock { $0[store] } ?? engine ?? first
    }

    /// Opens a store, ring file or server. Returns the path under which it is open.
    func open(_ path: String, password: String?) throws(SourceError) -> String {
        let opened: any StoreSource
        do {
            if ServerAddress.isURL(path) {
                let server = ServerSource(
                    try ServerAddress(path, password: password), remembers: engine ?? EngineSource(),
                    undoFolder: engine?.state?.undoFolder,
                    allowsWriting: (first as? ServerSource)?.allowsWriting == true)
                try server.connect()
                opened = server
            } else if FileKind(of: path) == .regular {
                opened = try RingFileSource(path: path, remembers: engine)
            } else {
                _ = try source(of: path).figures(store: path)
                return path
            }
        } catch { throw SourceError("\(error)") }
        let folder = opened.folder
        if folder != first.folder { others.withLock { $0[folder] = $0[folder] ?? opened } }
        return folder
    }

    /// Releases servers, which closes their connections, and ring files.
    func close(_ paths: [String]) {
        others.withLock { for path in paths { $0[path] = nil } }
        if paths.contains(first.folder) { (first as? ServerSource)?.disconnect() }
    }
}
