import Logging
import StorageEngine

/// Keys under which this process found a value that it can't read. Each is told of once: a type that changed makes as many of
/// them as there are entries, at each access again.
struct UnreadKeys {
    /// More than these are only counted.
    private static var most: Int { 10_000 }

    private var names: Set<ExactText> = []
    private(set) var count = 0

    /// Whether nobody has told of it yet.
    mutating func note(_ name: String) -> Bool {
        guard names.count < UnreadKeys.most else {
            if !names.contains(ExactText(name)) { count += 1 }
            return false
        }
        guard names.insert(ExactText(name)).inserted else { return false }
        count += 1
        return true
    }
}

/// Values that are no objects (any more), and those of versions that this program doesn't know yet.
struct UnreadValues {
    var stale = UnreadKeys()
    var newer = UnreadKeys()
}

/// Stored values that are no objects (any more): counted, logged once, found and deleted on demand.
extension ArchiveCore {
    /// Tells of a stored value that can't be read: in an event for its key once, and in the log for the first of all.
    func noteUnreadable(_ name: String, _ error: any Error) {
        let isNewer = (error as? ArchiveError)?.isNewerVersion == true
        let kind = isNewer ? \UnreadValues.newer : \.stale
        let (isNew, isFirst) = unread.withLock { unread in
            let isNew = unread[keyPath: kind].note(name)
            return (isNew, isNew && unread[keyPath: kind].count == 1)
        }
        if isNew { try? withHashed(name) { try archive.noteUndecodable($0) } }
        guard isFirst else { return }
        shared.failures.withLock { $0.logged += 1 }
        let advice =
            isNewer
            ? "further ones are counted only, and all stay as they are"
            : "further ones are counted only, staleKeys lists and deleteStale deletes them"
        factory.logger.warning(
            "vellum: cannot read a value; \(advice)",
            metadata: ["archive": "\(archive.name)", "key": "\(name)", "reason": "\(error)"])
    }

    /// The key of a listed entry; one whose bytes are damaged is left out, which is logged.
    func presentName(in list: EntryList, at index: Int) throws(StorageError) -> String? {
        do throws(StorageError) {
            return try list.presentKey(at: index)
        } catch {
            guard case .corrupted = error else { throw error }
            log("read", "entry \(index)", error)
            return nil
        }
    }

    /// The stored values that are no objects; one of a version to come is one.
    func staleVersions() throws -> [Version] {
        let list = try archive.entries()
        return try list.indices.compactMap { index in
            guard let name = try presentName(in: list, at: index), let metadata = try archive.metadata(name)
            else { return nil }
            var isStale = false
            try withHashed(name) { key in
                try archive.withPeekToHold(key) { bytes, _ in
                    isStale =
                        coder.form?.newerVersion(in: bytes) == nil
                        && (try? coder.decode(bytes, key: name)) == nil
                }
            }
            return isStale ? Version(name: name, sequence: metadata.sequence) : nil
        }
    }
}
