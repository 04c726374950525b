/// An action of a person that can be taken back (S12): for ten minutes, whatever is written meanwhile, if what it removed
/// fits into the archive's budget for that (``Archive/undoBudget()``), which has room for all that is within a limit up
/// to some 40 MB, more of large values and less of small ones; else until 5 % of the archive's limit (a
/// collection's: of its values; at least 64 KiB) has been written, if that comes first. The last 64 actions can be
/// taken back.
public struct ReversibleAction: Sendable, Hashable, Identifiable {
    public enum Kind: UInt32, Sendable, Hashable {
        case delete = 1
        /// Entries were expired at once.
        case expire = 2
        /// Entries got other deadlines.
        case deadline = 3
    }

    /// Numbers grow with each action of the archive.
    public var id: UInt32
    public var kind: Kind
    public var time: Timestamp
    public var entries: Int
    /// Sum of the sizes of their values in bytes.
    public var bytes: UInt64
    /// The process that did it; 0 when that is no longer known.
    public var pid: Int32
    /// When it can no longer be undone, if not earlier because of what is written meanwhile.
    public var end: Timestamp
    /// How many bytes the archive's log may still grow by until it can no longer be undone: values, keys, and some
    /// fifty bytes for each change. `nil`: as many as you like.
    public var bytesLeft: UInt64?
}

extension ReversibleAction {
    /// One whose process isn't known, and that ends ten minutes after it was done.
    package init(id: UInt32, kind: Kind, time: Timestamp, entries: Int, bytes: UInt64) {
        self.init(
            id: id, kind: kind, time: time, entries: entries, bytes: bytes, pid: 0,
            end: Timestamp(microseconds: time.microseconds + 600_000_000), bytesLeft: nil)
    }
}

/// What reversible actions may take beside an archive's limit, for as long as they can be taken back. One that doesn't fit
/// into either part beside those before it can be taken back until 5 % of the limit has been written.
public struct UndoBudget: Sendable, Hashable {
    /// Bytes of values: as many as the archive's limit, at least 4 MiB. A collection's values, and what was removed of
    /// them, stand in its limit's place.
    public var values: UInt64
    /// Bytes on the disk and in the index: 64 MiB, or an eighth of the limit where that is more. An entry takes its value, its
    /// key and some 180 more.
    public var room: UInt64
    /// What is left of ``values`` now.
    public var valuesLeft: UInt64
    /// What is left of ``room`` now.
    public var roomLeft: UInt64

    /// Whether what removing this many entries takes is left, about: keys are taken to have some fifty bytes.
    public func holds(entries: Int, valueBytes: UInt64) -> Bool {
        let (overhead, isTooMuch) = UInt64(max(entries, 0)).multipliedReportingOverflow(by: 224)
        guard !isTooMuch, valueBytes <= valuesLeft else { return false }
        return overhead <= roomLeft && valueBytes <= roomLeft - overhead
    }
}

/// What an undo brought back.
public struct UndoOutcome: Sendable, Hashable {
    public var action: ReversibleAction
    /// Those that can be found again.
    public var entries: Int
    public var bytes: UInt64
    /// Keys that were recorded anew meanwhile, or changed again; they were left as they are. At most 100 are listed.
    public var skipped: [String]
    public var skippedCount: Int
    /// How many entries have met the deadline that they had, and so are not found again.
    public var expired = 0
    /// Of those of them that were given up for want of room.
    var expiredBytes: UInt64 = 0
    /// How many entries of the action had no room within the limit, the least recent of them.
    public var displaced = 0
    /// How many other entries were evicted because the limit left no room for all.
    public var evicted: Int
    /// Whether it was done to its end; if not, the rest can be taken back by undoing the action again.
    public var isComplete = true

    package static var nothing: UndoOutcome {
        let none = Timestamp(microseconds: 0)
        return UndoOutcome(
            action: ReversibleAction(
                id: 0, kind: .delete, time: none, entries: 0, bytes: 0, pid: 0, end: none, bytesLeft: nil),
            entries: 0, bytes: 0, skipped: [], skippedCount: 0, evicted: 0)
    }
}

/// An entry that a person saw, for an action that spares it if it has changed since.
public struct PlannedEntry: Sendable, Hashable {
    public var key: String
    /// ``EntryMetadata/sequence`` as it was seen.
    public var sequence: UInt64

    public init(key: String, sequence: UInt64) {
        self.key = key
        self.sequence = sequence
    }
}

/// What a person wants to be done with some entries.
public enum PlannedAction: Sendable, Hashable {
    case delete
    case expireNow
    /// Expires at once what was last recorded or accessed before that moment. An access since, by whichever process, spares
    /// the entry: that is decided when it would go, under the archive's lock, with all uses applied.
    case expireIdle(before: Timestamp)
    /// From now on they live as long as this; `nil`: they no longer expire.
    case setLifetime(Duration?)
}

/// A planned entry that was left alone.
public struct PlanSkip: Sendable, Hashable {
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// It was stored anew since it was seen.
        case changed
        /// It has gone, or expired.
        case absent
        /// It was used since, and only what is idle was to go.
        case used
    }

    public var key: String
    public var reason: Reason

    public init(key: String, reason: Reason) {
        self.key = key
        self.reason = reason
    }
}

/// What became of it.
public struct PlanOutcome: Sendable, Hashable {
    public var entries = 0
    /// Sum of the sizes of their values in bytes.
    public var bytes: UInt64 = 0
    /// What was left alone, in the order of the plan.
    public var skips: [PlanSkip] = []
    /// The keys of ``skips``.
    public var skipped: [String] { skips.map(\.key) }
    /// Entries that were as wanted before: they were to lose their deadline and had none.
    public var unchanged = 0
    /// For ``Archive/undo(_:progress:)``; `nil` when nothing was done, or when nothing of what was before is kept
    /// (on a full disk).
    public var action: ReversibleAction?
    /// Why it ended early, when some entries had been done already: `entries`, `bytes` and `action` tell of these.
    public var failure: StorageError?

    public init() {}
}
