/// An action that can be undone (S12). If its removals fit into the archive's budget (``Archive/undoBudget()``), it can be undone
/// for ten minutes, regardless of later writes. The budget suffices for all entries if the limit is at most some 40 MB, more with
/// large values and less with small ones. Beyond the budget, an action can be undone until 5 % of the archive's limit (for a
/// collection, of its values; at least 64 KiB) has been written, at most for ten minutes. Only the last 64 can be undone.
public struct ReversibleAction: Sendable, Hashable, Identifiable {
    /// The kind of change that an action made.
    public enum Kind: UInt32, Sendable, Hashable {
        /// Entries were deleted.
        case delete = 1
        /// Entries were expired at once.
        case expire = 2
        /// Entries got other expiry times.
        case deadline = 3
    }

    /// Identifies the action within its archive; each new action has a greater number than those in the log.
    public var id: UInt32
    /// The kind of change.
    public var kind: Kind
    /// When the action was done.
    public var time: Timestamp
    /// Number of entries that the action removed or changed; after a rebuild of the index, only those that the log still has.
    public var entries: Int
    /// Sum of the sizes of their values in bytes.
    public var bytes: UInt64
    /// Number of the process that did the action; 0 if unknown.
    public var pid: Int32
    /// When the action can no longer be undone; earlier if ``bytesLeft`` runs out.
    public var end: Timestamp
    /// Bytes that may still be written to the archive's log before the action can no longer be undone: values, keys, and some
    /// fifty bytes for each change. `nil`: no limit.
    public var bytesLeft: UInt64?
}

extension ReversibleAction {
    package init(id: UInt32, kind: Kind, time: Timestamp, entries: Int, bytes: UInt64) {
        self.init(
            id: id, kind: kind, time: time, entries: entries, bytes: bytes, pid: 0,
            end: Timestamp(microseconds: time.microseconds + 600_000_000), bytesLeft: nil)
    }
}

/// The space that reversible actions may use in addition to an archive's limit. An action that exceeds the rest of either part
/// can be undone only until 5 % of the limit has been written.
public struct UndoBudget: Sendable, Hashable {
    /// Bytes of values: the limit (for a collection, its values and those removed), but at least 4 MiB.
    public var values: UInt64
    /// Bytes on disk and in the index: an eighth of the limit, 64 MiB or more. An entry takes value, key and 180 bytes.
    public var space: UInt64
    /// Unused part of ``values``.
    public var valuesLeft: UInt64
    /// Unused part of ``space``.
    public var spaceLeft: UInt64
    /// Bytes that can be written until an action beyond the budget can't be undone.
    package var exceededBytes: UInt64 = 64 << 10

    /// Whether removing this number of entries fits into the unused part: an estimate with some fifty bytes for each key.
    public func holds(entries: Int, valueBytes: UInt64) -> Bool {
        let (overhead, isTooMuch) = UInt64(max(entries, 0)).multipliedReportingOverflow(by: 224)
        guard !isTooMuch, valueBytes <= valuesLeft else { return false }
        return overhead <= spaceLeft && valueBytes <= spaceLeft - overhead
    }
}

/// The result of an undo.
public struct UndoOutcome: Sendable, Hashable {
    /// The action that was undone.
    public var action: ReversibleAction
    /// Entries that were restored and can be read.
    public var entries: Int
    /// Sum of the sizes of their values in bytes.
    public var bytes: UInt64
    /// Keys that were recorded or changed again after the action, and stay unchanged. At most 100 are listed.
    public var skipped: [String]
    /// Number of keys left unchanged; ``skipped`` lists the first of them.
    public var skippedCount: Int
    /// Number of entries that had passed their own expiry time, and so can't be found.
    public var expired = 0
    /// Sum of the sizes of the expired entries' values that were dropped for space.
    var expiredBytes: UInt64 = 0
    /// Number of the action's entries that were left out because the limit had no space for them: the least recent ones.
    public var displaced = 0
    /// Number of restored entries that can't be read because the log is damaged. A look-up of them fails.
    public var damaged = 0
    /// Number of other entries that were evicted for space.
    public var evicted: Int
    /// Whether the undo finished. If not, undoing the action again continues it, and counts all entries.
    public var isComplete = true

    package static var nothing: UndoOutcome {
        let none = Timestamp(microseconds: 0)
        return UndoOutcome(
            action: ReversibleAction(
                id: 0, kind: .delete, time: none, entries: 0, bytes: 0, pid: 0, end: none, bytesLeft: nil),
            entries: 0, bytes: 0, skipped: [], skippedCount: 0, evicted: 0)
    }
}

/// One version of an entry. A plan skips the entry if it has changed since.
public struct PlannedEntry: Sendable, Hashable {
    /// The entry's key.
    public var key: String
    /// The entry's ``EntryMetadata/sequence`` when it was seen.
    public var sequence: UInt64

    /// Stands for the sequence of a damaged entry. A deletion finds that entry by the hash of its key.
    package static let unknownSequence = UInt64.max

    /// The version `sequence` of the entry of `key`.
    public init(key: String, sequence: UInt64) {
        self.key = key
        self.sequence = sequence
    }
}

/// The change that a plan makes to its entries.
public enum PlannedAction: Sendable, Hashable {
    /// Delete them.
    case delete
    /// Make them expire at once.
    case expireNow
    /// Make those expire at once that were last recorded or accessed before this moment. An entry accessed since then, by any
    /// process, is skipped: checked under the archive's lock, with drained touches.
    case expireIdle(before: Timestamp)
    /// Make them expire this long from now; `nil`: they no longer expire.
    case setLifetime(Duration?)
}

/// A planned entry that was skipped.
public struct PlanSkip: Sendable, Hashable {
    /// Why a planned entry was skipped.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The entry was stored again since it was seen.
        case changed
        /// The entry was removed or has expired.
        case absent
        /// The entry was accessed after the plan, which was for idle entries only.
        case used
    }

    /// The entry's key.
    public var key: String
    /// Why the entry was skipped.
    public var reason: Reason

    /// The entry of `key` was skipped for this reason.
    public init(key: String, reason: Reason) {
        self.key = key
        self.reason = reason
    }
}

/// The result of a plan.
public struct PlanOutcome: Sendable, Hashable {
    /// Number of entries that the action was carried out on.
    public var entries = 0
    /// Sum of the sizes of their values in bytes.
    public var bytes: UInt64 = 0
    /// The entries that were skipped, in the order of the plan.
    public var skips: [PlanSkip] = []
    /// The keys of ``skips``.
    public var skipped: [String] { skips.map(\.key) }
    /// Entries that a deletion of all entries left unchanged, because they were stored after its plan.
    package var storedSince = 0
    /// Entries without an expiry time, in a plan that removes expiry times.
    public var unchanged = 0
    /// The action, for ``Archive/undo(_:progress:)``. `nil` if nothing was changed, or if the old content could not be kept (on a
    /// full disk). If only the content of the first entries could not be kept, undoing the action restores the others.
    public var action: ReversibleAction?
    /// Whether the disk was too full for undo records: neither this action nor an earlier one can be undone any more.
    public var isFinal = false
    /// Why the plan ended early, after some entries had been changed; `entries`, `bytes` and `action` describe these.
    public var failure: StorageError?

    /// The outcome of a plan that did nothing.
    public init() {}
}
