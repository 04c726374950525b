import Logging
import StorageEngine

struct UnreadKeys {
    private static var most: Int { 10_000 }

    private var names: Set<ExactText> = []
    private(set) var count = 0

    mutating func insert(_ name: String) -> Bool {
        guard names.count < UnreadKeys.most else {
            if !names.contains(ExactText(name)) { count += 1 }
            return false
        }
        guard names.insert(ExactText(name)).inserted else { return false }
        count += 1
        return true
    }
}

struct UnreadValues {
    var stale = UnreadKeys()
    var newer = UnreadKeys()
}

/// Stored values that can't be decoded: counted, logged once, found and deleted on request.
extension ArchiveCore {
    func reportUnreadable(_ name: String, _ error: any Error) {
        let isNewer = (error as? ArchiveError)?.isNewerVersion == true
        let kind = isNewer ? \UnreadValues.newer : \.stale
        let (isNew, isFirst) = unread.withLock { unread in
            let isNew = unread[keyPath: kind].insert(name)
            return (isNew, isNew && unread[keyPath: kind].count == 1)
        }
        if isNew { try? withHashed(name) { try archive.reportUndecodable($0) } }
        guard isFirst else { return }
        shared.failures.withLock { $0.logged += 1 }
        let advice =
            isNewer
            ? "further ones are only counted; all stay unchanged"
            : "further ones are only counted; staleKeys lists them and deleteStale deletes them"
        factory.logger.warning(
            "vellum: cannot read a value; \(advice)",
            metadata: ["archive": "\(archive.name)", "key": "\(name)", "reason": "\(error)"])
    }

    func presentName(in list: EntryList, at index: Int) throws(StorageError) -> String? {
        do throws(StorageError) {
            return try list.presentKey(at: index)
        } catch {
            guard case .corrupted = error else { throw error }
            log("read", "entry \(index)", error)
            return nil
        }
    }

    /// The stored values that can't be decoded. Values of newer versions are not among them.
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
