import ArchiveQuery
import StorageEngine

/// The entries of a planned action, as they were when it was planned.
package struct ChangePlan: Sendable {
    package enum Selection: Sendable {
        case keys([String])
        case owner(String)
        case all
    }

    package private(set) var entries = 0
    package private(set) var bytes: UInt64 = 0
    package let action: PlannedAction
    package private(set) var missing: [String] = []
    /// Entries without an expiry time to remove.
    package private(set) var unchanged = 0
    /// Number of entries with damaged bytes, which are left out. A deletion by keys includes them.
    package private(set) var damaged = 0
    /// The keys of damaged entries, in a plan by keys.
    package private(set) var damagedKeys: [String] = []
    /// The archive's version when the plan was made, for a deletion of all entries.
    private var plannedVersion: ArchiveVersion?
    private var targets: [Target] = []

    /// Plans without counting accesses. If `action` expires idle entries, only those are chosen.
    package init(_ archive: Archive, _ selection: Selection, action: PlannedAction) throws(StorageError) {
        self.action = action
        if case .keys(let keys) = selection {
            var seen: Set<ExactText> = []
            for key in keys where seen.insert(ExactText(key)).inserted {
                do throws(StorageError) {
                    if let metadata = try archive.metadata(key) {
                        add(metadata.target, metadata.accessed)
                    } else {
                        missing.append(key)
                    }
                } catch {
                    guard case .corrupted = error else { throw error }
                    // A damaged entry can be deleted, but not changed.
                    guard action == .delete else {
                        damaged += 1
                        damagedKeys.append(key)
                        continue
                    }
                    entries += 1
                    targets.append(Target(key: key, sequence: PlannedEntry.unknownSequence, size: 0))
                }
            }
            return
        }
        let version = try archive.version()
        // Least recently used first.
        let list = try archive.entries(order: .leastRecentFirst)
        if case .all = selection, action == .delete {
            entries = list.count
            bytes = list.totalValueBytes
            plannedVersion = version
            return
        }
        for index in list.indices where isSelected(list[index].accessed) {
            guard let metadata = try list.soundMetadata(at: index) else {
                if try list.isDamaged(at: index) { damaged += 1 }
                continue
            }
            if case .owner(let owner) = selection, metadata.owner.map(ExactText.init) != ExactText(owner) {
                continue
            }
            add(metadata.target, metadata.accessed)
        }
    }

    /// A plan for the entries of a search, without those that `action` doesn't apply to.
    package init(_ found: [EntryFacts], action: PlannedAction) {
        self.action = action
        for facts in found {
            let target = Target(
                key: facts.key, sequence: facts.sequence, size: facts.valueBytes,
                hasDeadline: facts.expires != nil)
            add(target, facts.accessed)
        }
    }

    private func isSelected(_ accessed: Timestamp) -> Bool {
        if case .expireIdle(let before) = action { accessed < before } else { true }
    }

    /// Adds an entry. Checks the idle time again, because the entry may have been stored or accessed during the search.
    private mutating func add(_ target: Target, _ accessed: Timestamp) {
        guard isSelected(accessed) else { return }
        guard action != .setLifetime(nil) || target.hasDeadline else {
            unchanged += 1
            return
        }
        entries += 1
        bytes += UInt64(target.size)
        targets.append(target)
    }

    /// Performs the action with an undo record. Entries changed since the plan are skipped. With `isImmediate`, a deletion of
    /// all entries includes those stored since the plan. `shouldContinue` is called repeatedly, and stops the change by returning false.
    package func apply(
        to archive: Archive, isImmediate: Bool, while shouldContinue: () -> Bool = { true }
    ) throws(StorageError) -> Carried<PlanOutcome> {
        if let plannedVersion {
            var isStopped = false
            let outcome = try archive.deleteAllReversibly(of: isImmediate ? nil : plannedVersion) { _ in
                isStopped = !shouldContinue()
                return !isStopped
            }
            return Carried(
                outcome,
                stopped: isStopped
                    ? "Stopped after \(Figures.count(outcome.entries)); the others are unchanged." : nil)
        }
        return try targets.carryOut(action, in: archive) { _ in shouldContinue() }
    }
}
