import StorageEngine

/// Sendable value type. Which entries a person's action is about, as they were when the plan was made.
struct RemovalPlan: Sendable {
    private(set) var entries = 0
    /// Sum of the values' sizes.
    private(set) var bytes: UInt64 = 0
    let action: PlannedAction
    private var isWhole = false
    private var found: [PlannedEntry] = []
    private(set) var missing: [String] = []
    /// Entries that have no deadline to take away.
    private(set) var unchanged = 0

    /// Looks without any trace. `idle`: only what was last accessed longer ago; everything, if the selection is empty.
    init(
        _ archive: Archive, _ selection: SelectionArguments, idle: Duration? = nil, action: PlannedAction
    ) throws(StorageError) {
        self.action = action
        let before = idle.map { Timestamp(microseconds: Timestamp.now().microseconds - $0.microseconds) }
        func isIdle(_ accessed: Timestamp) -> Bool { before.map { accessed < $0 } ?? true }
        if !selection.keys.isEmpty {
            var seen: Set<ExactText> = []
            for key in selection.keys where seen.insert(ExactText(key)).inserted {
                guard let metadata = try archive.metadata(key) else {
                    missing.append(key)
                    continue
                }
                if isIdle(metadata.accessed) { add(metadata) }
            }
            return
        }
        // Least recent first, so that the latest that goes is the most recent.
        let list = try archive.entries(order: .leastRecentFirst)
        if selection.all, idle == nil, action == .delete {
            entries = list.count
            bytes = list.totalValueBytes
            isWhole = true
            return
        }
        for index in list.indices where isIdle(list[index].accessed) {
            // What is stored anew while it is looked at is judged by what it is now.
            guard let metadata = try list.presentMetadata(at: index), isIdle(metadata.accessed) else {
                continue
            }
            if let owner = selection.owner, metadata.owner.map(ExactText.init) != ExactText(owner) {
                continue
            }
            add(metadata)
        }
    }

    private mutating func add(_ metadata: EntryMetadata) {
        guard action != .setLifetime(nil) || metadata.expires != nil else {
            unchanged += 1
            return
        }
        entries += 1
        bytes += UInt64(metadata.valueBytes)
        found.append(PlannedEntry(key: metadata.key, sequence: metadata.sequence))
    }

    func reportMissing() {
        for key in missing { Narration.complain("no entry \(TerminalSafe.quoted(key))") }
    }

    /// Does it so that it can be undone. All entries there are by then go, if that was the plan; otherwise those that
    /// are still the ones that were seen.
    func apply(to archive: Archive) throws(StorageError) -> PlanOutcome {
        isWhole ? try archive.deleteAllReversibly() : try archive.carryOut(action, on: found)
    }
}

extension Duration {
    /// Whole microseconds; saturates.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return seconds < 0 ? .min / 2 : .max / 2 }
        return scaled + attoseconds / 1_000_000_000_000
    }
}
