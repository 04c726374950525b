import ServerInspection
import StorageEngine
import StoreInspection

/// The source that the browser was started with, and those of servers and ring files that were opened later. Thread-safe.
package final class OpenSources: Sendable {
    private let first: any StoreSource
    private let others = Guarded<[ExactText: Other]>([:])
    /// The source of stores; nil: `first`, in tests.
    private let engine: EngineSource?

    /// A source, and how often it was opened without being closed: a store may be opened again before the previous closing takes
    /// effect.
    private struct Other {
        let source: any StoreSource
        var count = 0
    }

    package init(_ first: any StoreSource) {
        self.first = first
        engine =
            first as? EngineSource ?? first.remembers ?? (first is RingFileSource ? EngineSource() : nil)
    }

    /// - Parameter store: nil: the list of stores.
    func source(of store: String?) -> any StoreSource {
        guard let store, !isFirst(store) else { return first }
        return others.withLock { $0[ExactText(store)]?.source } ?? engine ?? first
    }

    private func isFirst(_ store: String) -> Bool { ExactText(store) == ExactText(first.folder) }

    /// Opens a store, ring file or server. Returns the path under which it is open, to be closed once.
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
        if !isFirst(opened.folder) {
            others.withLock { $0[ExactText(opened.folder), default: Other(source: opened)].count += 1 }
        }
        return opened.folder
    }

    /// Releases a server (closing its connection) or a ring file after one call for each ``open(_:password:)``.
    func close(_ path: String) {
        others.withLock { others in
            others[ExactText(path)]?.count -= 1
            if others[ExactText(path)]?.count == 0 { others[ExactText(path)] = nil }
        }
        if isFirst(path) { (first as? ServerSource)?.disconnect() }
    }
}
