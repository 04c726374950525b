/// An action of a person that can be taken back (S12): for ten minutes, or until 5 % of the archive's limit
/// (a collection's: of its values; at least 64 KiB) has been written, whichever ends first.
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
    /// fifty bytes for each change.
    public var bytesLeft: UInt64
}

/// What an undo brought back.
public struct UndoOutcome: Sendable, Hashable {
    public var action: ReversibleAction
    public var entries: Int
    public var bytes: UInt64
    /// Keys that were recorded anew meanwhile, or changed again; they were left as they are. At most 100 are listed.
    public var skipped: [String]
    public var skippedCount: Int
    /// How many entries were evicted because the limit left no room for all.
    public var evicted: Int
    /// Whether it was done to its end; if not, the rest can be taken back by undoing the action again.
    public var isComplete = true

    static var nothing: UndoOutcome {
        let none = Timestamp(microseconds: 0)
        return UndoOutcome(
            action: ReversibleAction(
                id: 0, kind: .delete, time: none, entries: 0, bytes: 0, pid: 0, end: none, bytesLeft: 0),
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
    /// From now on they live as long as this; `nil`: they no longer expire.
    case setLifetime(Duration?)
}

/// What became of it.
public struct PlanOutcome: Sendable, Hashable {
    public var entries: Int
    /// Sum of the sizes of their values in bytes.
    public var bytes: UInt64
    /// Keys that had changed or were gone, and were left alone.
    public var skipped: [String]
    /// Entries that were as wanted before: they were to lose their deadline and had none.
    public var unchanged = 0
    /// For ``Archive/undo(_:progress:)``; `nil` when nothing was done, or when there was no room for what was before
    /// (on a full disk).
    public var action: ReversibleAction?
    /// Why it ended early, when some entries had been done already: `entries`, `bytes` and `action` tell of these.
    public var failure: StorageError?
}
