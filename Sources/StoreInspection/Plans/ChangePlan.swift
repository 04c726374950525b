import StorageEngine

/// The entries that a person's action is about, as they were when it was planned. Sendable value type.
package struct ChangePlan: Sendable {
    package enum Selection: Sendable {
        case keys([String])
        case owner(String)
        case all
    }

    package private(set) var entries = 0
    /// Sum of the values' sizes.
    package private(set) var bytes: UInt64 = 0
    package let action: PlannedAction
    /// Keys that were named and have no entry.
    package private(set) var missing: [String] = []
    /// Entries that have no deadline to take away.
    package private(set) var unchanged = 0
    /// Entries that are left out because their bytes are damaged: nobody can tell whose they are.
    package private(set) var damaged = 0
    private var isWhole = false
    private var targets: [Target] = []

    /// Looks without any trace. Of what `action` expires because it is idle only that is chosen.
    package init(
        _ archive: Archive, _ selection: Selection, action: PlannedAction
    ) throws(StorageError) {
        self.action = action
        if case .keys(let keys) = selection {
            var seen: Set<ExactText> = []
            for key in keys where seen.insert(ExactText(key)).inserted {
                if let metadata = try archive.metadata(key) { add(metadata) } else { missing.append(key) }
            }
            return
        }
        // Least recent first, so that the latest that goes is the most recent.
        let list = try archive.entries(order: .leastRecentFirst)
        if case .all = selection, action == .delete {
            entries = list.count
            bytes = list.totalValueBytes
            isWhole = true
            return
        }
        for index in list.indices where isMeant(list[index].accessed) {
            guard let metadata = try list.soundMetadata(at: index) else {
                if try list.isDamaged(at: index) { damaged += 1 }
                continue
            }
            if case .owner(let owner) = selection, metadata.owner.map(ExactText.init) != ExactText(owner) {
                continue
            }
            add(metadata)
        }
    }

    /// Of entries that were found otherwise, as they were then. What `action` is not about among them is left out.
    package init(_ found: [EntryMetadata], action: PlannedAction) {
        self.action = action
        for metadata in found { add(metadata) }
    }

    private func isMeant(_ accessed: Timestamp) -> Bool {
        if case .expireIdle(let before) = action { accessed < before } else { true }
    }

    /// An entry that is stored again during the search is judged by its new state.
    private mutating func add(_ metadata: EntryMetadata) {
        guard isMeant(metadata.accessed) else { return }
        guard action != .setLifetime(nil) || metadata.expires != nil else {
            unchanged += 1
            return
        }
        entries += 1
        bytes += UInt64(metadata.valueBytes)
        targets.append(metadata.target)
    }

    /// Does it so that it can be undone. All entries there are by then go, if that was the plan; otherwise those that
    /// are still the ones that were seen. `goesOn` is asked now and then.
    package func apply(
        to archive: Archive, while goesOn: () -> Bool = { true }
    ) throws(StorageError) -> Carried<PlanOutcome> {
        if isWhole {
            var isStopped = false
            let outcome = try archive.deleteAllReversibly { _ in
                isStopped = !goesOn()
                return !isStopped
            }
            return Carried(
                outcome,
                stopped: isStopped
                    ? "Stopped after \(Figures.count(outcome.entries)); the others are as they were." : nil)
        }
        return try targets.carryOut(action, in: archive) { _ in goesOn() }
    }
}
