import StorageEngine

/// Sendable value type. What a deletion would remove, as it was when the plan was made.
struct RemovalPlan: Sendable {
    let entries: Int
    /// Sum of the values' sizes.
    let bytes: UInt64
    private let isWhole: Bool
    private let found: [EntryMetadata]
    private let missing: [String]

    /// `keys`: nil for all entries. Looks without any trace.
    init(_ archive: Archive, keys: [String]?) throws(StorageError) {
        guard let keys else {
            let list = try archive.entries()
            entries = list.count
            bytes = list.totalValueBytes
            isWhole = true
            found = []
            missing = []
            return
        }
        var found: [EntryMetadata] = []
        var missing: [String] = []
        var seen: Set<String> = []
        for key in keys where seen.insert(key).inserted {
            if let metadata = try archive.metadata(key) {
                found.append(metadata)
            } else {
                missing.append(key)
            }
        }
        entries = found.count
        bytes = found.reduce(0) { $0 + UInt64($1.valueBytes) }
        isWhole = false
        self.found = found
        self.missing = missing
    }

    func reportMissing() {
        for key in missing { Narration.complain("no entry \"\(key)\"") }
    }

    /// Deletes the planned entries: all there are, if that was the plan; of single ones, with `ifUnchanged`, only those
    /// that are still the ones that were seen. Returns how many went, and the sum of their values' sizes.
    func apply(to archive: Archive, ifUnchanged: Bool) throws(StorageError) -> (entries: Int, bytes: UInt64) {
        if isWhole {
            let removal = try archive.deleteAll()
            return (removal.entries, removal.bytes)
        }
        var removal = (entries: 0, bytes: 0 as UInt64)
        for metadata in found {
            var isDeleted = true
            if ifUnchanged {
                let outcome = try archive.delete(metadata.key, ifSequence: metadata.sequence)
                if outcome == .changed {
                    Narration.complain("\"\(metadata.key)\" was recorded anew and is kept")
                }
                isDeleted = outcome == .deleted
            } else {
                isDeleted = try archive.delete(metadata.key)
            }
            guard isDeleted else { continue }
            removal.entries += 1
            removal.bytes += UInt64(metadata.valueBytes)
        }
        return removal
    }
}
