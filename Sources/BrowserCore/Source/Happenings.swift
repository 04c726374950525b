import StorageEngine

/// An event of an archive. A value; safe to share between threads.
public struct StoreEvent: Sendable, Hashable {
    public var archive: String
    public var time: Moment
    public var kind: EventKind
    public var cause: EventCause
    /// Nil for events that are about no single entry, or when it is no longer known.
    public var key: String?
    /// Whether the key is whole; of a long one only the beginning may be known.
    public var isWholeKey: Bool
    /// Size of the value in bytes.
    public var bytes: Int
    public var pid: Int32

    public init(
        archive: String, time: Moment, kind: EventKind, cause: EventCause = .request, key: String?,
        isWholeKey: Bool = true, bytes: Int = 0, pid: Int32 = 0
    ) {
        self.archive = archive
        self.time = time
        self.kind = kind
        self.cause = cause
        self.key = key
        self.isWholeKey = isWholeKey
        self.bytes = bytes
        self.pid = pid
    }
}

/// The events of one archive since the last look. A value; safe to share between threads.
public struct EventPage: Sendable, Hashable {
    public var archive: String
    public var events: [StoreEvent]
    /// How many were overwritten before they could be read.
    public var lost: UInt64
    /// The number to ask for next.
    public var next: UInt64

    public init(archive: String, events: [StoreEvent], lost: UInt64 = 0, next: UInt64) {
        self.archive = archive
        self.events = events
        self.lost = lost
        self.next = next
    }
}

/// What the events still tell of a key, oldest first. A value; safe to share between threads.
public struct Biography: Sendable, Hashable {
    public var events: [StoreEvent]
    /// Since when events are known, of any key; nil: none are.
    public var reachesBackTo: Moment?
    /// Whether more may have happened before.
    public var isCutOff: Bool

    public init(events: [StoreEvent], reachesBackTo: Moment? = nil, isCutOff: Bool = false) {
        self.events = events
        self.reachesBackTo = reachesBackTo
        self.isCutOff = isCutOff
    }
}

/// A message of a log, as much of it as is shown. A value; safe to share between threads.
public struct LogLine: Sendable, Hashable {
    public var sequence: UInt64
    /// Nil where messages are kept without: in a ring file.
    public var time: Moment?
    /// Size of the whole message in bytes.
    public var size: Int
    /// The message as text; nil when it isn't any.
    public var text: String?

    public init(sequence: UInt64, time: Moment?, size: Int, text: String?) {
        self.sequence = sequence
        self.time = time
        self.size = size
        self.text = text
    }

    /// Bytes of a message that are read as text.
    public static let limit = 16 << 10
}
