/// What a person may do to entries. A value; safe to share between threads.
public enum Change: Sendable, Hashable {
    case delete
    case expireNow
    /// Expires entries that were last accessed before that moment; one that is used meanwhile is left alone.
    case expireIdle(before: Moment)
    /// From now on they live so many seconds; nil: they no longer expire.
    case lifetime(Double?)
}

extension Change: CustomStringConvertible {
    /// For tests and for traces.
    public var description: String {
        switch self {
        case .delete: "delete"
        case .expireNow: "expire now"
        case .expireIdle: "expire idle"
        case .lifetime(let seconds?): "expire in \(DurationText.text(seconds))"
        case .lifetime(nil): "expire never"
        }
    }
}

/// An entry as a plan froze it. A value; safe to share between threads.
public struct Target: Sendable, Hashable {
    public var key: String
    public var sequence: UInt64
    public var size: Int
    /// Whether it had a deadline: one without any has none to lose.
    public var hasDeadline: Bool

    public init(key: String, sequence: UInt64, size: Int, hasDeadline: Bool = true) {
        self.key = key
        self.sequence = sequence
        self.size = size
        self.hasDeadline = hasDeadline
    }
}

/// What became of a plan. A value; safe to share between threads.
public struct ChangeOutcome: Sendable, Hashable {
    /// Entries that were changed, and the bytes of their values.
    public var entries = 0
    public var bytes: UInt64 = 0
    /// Keys whose value was replaced since the plan was made; they are left alone.
    public var changed: [String] = []
    /// Keys that were used since the plan was made, where it was about idle ones.
    public var used: [String] = []
    /// Keys that were gone already.
    public var absent: [String] = []
    /// How many entries were as wanted before: they were to lose a deadline, and had none.
    public var unchanged = 0
    /// Whether a person stopped it before all targets were looked at; one line.
    public var stopped: String?
    /// The longest that one step took, in seconds: no lock was held longer.
    public var longestCall = 0.0
    /// Whether it can be taken back.
    public var isReversible = false

    public init() {}
}

/// Something that can be taken back, by whichever process it was done. A value; safe to share between threads.
public struct Reversible: Sendable, Hashable {
    public enum Kind: Sendable, Hashable { case delete, expire, lifetime }

    public var id: UInt32
    public var kind: Kind
    public var time: Moment
    public var entries: Int
    public var bytes: UInt64
    /// Who did it; nil when that is no longer known.
    public var pid: Int32?
    /// Whether this very process did it.
    public var isOwn: Bool
    /// When it can no longer be taken back, if not earlier.
    public var end: Moment
    /// How many bytes may still be written until then.
    public var bytesLeft: UInt64?

    public init(
        id: UInt32, kind: Kind, time: Moment, entries: Int, bytes: UInt64, pid: Int32? = nil,
        isOwn: Bool = false, end: Moment, bytesLeft: UInt64?
    ) {
        self.id = id
        self.kind = kind
        self.time = time
        self.entries = entries
        self.bytes = bytes
        self.pid = pid
        self.isOwn = isOwn
        self.end = end
        self.bytesLeft = bytesLeft
    }
}

/// What an undo brought back. A value; safe to share between threads.
public struct UndoReport: Sendable, Hashable {
    public var entries: Int
    public var bytes: UInt64
    /// Keys that were recorded anew or changed meanwhile, the first hundred of them, and how many in all.
    public var skipped: [String]
    public var skippedCount: Int
    /// Entries that have met the deadline that they had.
    public var expired: Int
    /// Entries of the action that had no room within the limit.
    public var displaced: Int
    /// Other entries that had to go because the limit left no room for all.
    public var evicted: Int
    /// What the call took, in seconds: no lock was held longer.
    public var longestCall: Double
    /// Whether it was done to its end; if a person stopped it, the rest can be taken back by doing it again.
    public var isComplete: Bool

    public init(
        entries: Int, bytes: UInt64, skipped: [String] = [], skippedCount: Int = 0, expired: Int = 0,
        displaced: Int = 0, evicted: Int = 0, longestCall: Double = 0, isComplete: Bool = true
    ) {
        self.entries = entries
        self.bytes = bytes
        self.skipped = skipped
        self.skippedCount = skippedCount
        self.expired = expired
        self.displaced = displaced
        self.evicted = evicted
        self.longestCall = longestCall
        self.isComplete = isComplete
    }
}
