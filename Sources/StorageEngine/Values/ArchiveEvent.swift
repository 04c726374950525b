/// The kind of change to an entry, or to a whole archive (S13). Values: OnDiskFormat, "The event ring".
public enum EventKind: UInt8, Sendable, Hashable, CaseIterable {
    /// A value was stored by a put: its creation time is new.
    case record = 1
    /// A value was stored by an update: an existing entry kept its creation time.
    case update = 2
    /// A process loaded the object into its memory.
    case promotion = 3
    /// An entry was removed to free space.
    case eviction = 4
    /// An entry was removed because its expiry time passed or was set to now.
    case expiry = 5
    /// An entry, or the whole archive's content, was deleted.
    case delete = 6
    /// A value was refused.
    case rejection = 7
    /// The entry got another expiry time, or none.
    case deadline = 8
    /// A removed entry was restored.
    case restore = 9
    /// A message was appended to a log.
    case append = 10
    /// The limits of the archive changed; the event concerns no entry.
    case resize = 11

    /// Whether the event sets or removes the expiry time of its entry.
    var setsExpiry: Bool { [.record, .update, .deadline].contains(self) }
}

/// Why an event happened.
public enum EventCause: UInt8, Sendable, Hashable, CaseIterable {
    /// No cause is recorded.
    case none = 0
    /// The program requested it.
    case request = 1
    /// The limit required it.
    case limit = 2
    /// The entry's expiry time passed.
    case deadline = 3
    /// The entry had not been accessed for longer than requested.
    case idle = 4
    /// All entries of the owner were deleted.
    case owner = 5
    /// A user requested it with a tool, and may undo it.
    case person = 6
    /// The value is larger than the limit.
    case tooLarge = 7
    /// The entry's bytes were damaged and could not be read.
    case damage = 8
    /// Only the memory of one process held the entry, and that process ended.
    case processEnded = 9
    /// An action was undone.
    case undo = 10
    /// The object could not be encoded.
    case unencodable = 11
    /// The stored value could not be decoded as the requested type; it stays on disk.
    case undecodable = 12
    /// The file system had no space left.
    case noSpace = 13
}

/// One event of an archive.
public struct ArchiveEvent: Sendable, Hashable {
    /// Number of the event. An archive's events are numbered consecutively.
    public var sequence: UInt64
    /// Time of the event.
    public var time: Timestamp
    /// Kind of the event.
    public var kind: EventKind
    /// Cause of the event.
    public var cause: EventCause
    /// The entry's key, or its beginning (``keyIsComplete``) if it is longer than 24 bytes and the log no longer holds
    /// the rest. `nil` if neither log nor ring have it, and for events that concern no entry.
    public var key: String?
    /// Whether ``key`` is the whole key.
    public var keyIsComplete: Bool
    /// Size of the value in bytes.
    public var bytes: Int
    /// The process whose call caused the event.
    public var pid: Int32
    /// The low 32 bits of the key's hash in this index; 0 for events that concern no entry.
    package var keyHash: UInt32 = 0
    /// In the history of a key: the expiry time that the event set; `nil`: none, or the log no longer holds it.
    package var expires: Timestamp?
}

extension ArchiveEvent {
    package init(
        _ kind: EventKind, _ cause: EventCause, key: String?, bytes: Int = 0, pid: Int32 = 0, time: Timestamp
    ) {
        self.init(
            sequence: 0, time: time, kind: kind, cause: cause, key: key, keyIsComplete: true, bytes: bytes,
            pid: pid)
    }
}

/// The events that one read of the ring returned.
public struct EventBatch: Sendable, Hashable {
    /// The events, oldest first.
    public var events: [ArchiveEvent]
    /// Number of events that were overwritten before they could be read: the ring keeps the last 2,048.
    public var lost: UInt64
    /// Number of the next event to request.
    public var next: UInt64

    package init(events: [ArchiveEvent], lost: UInt64 = 0, next: UInt64) {
        self.events = events
        self.lost = lost
        self.next = next
    }
}

/// The recorded events of a key.
public struct KeyHistory: Sendable, Hashable {
    /// The events, oldest first.
    public var events: [ArchiveEvent]
    /// Time of the oldest event in the ring, of any key; `nil`: the ring is empty.
    public var reachesBackTo: Timestamp?
    /// Whether older events have been overwritten, so that the key may have had more.
    public var isCutOff: Bool
    /// Times between which events were lost, oldest first. The ring itself has no gaps.
    package var gaps: [ClosedRange<Timestamp>] = []

    package init(events: [ArchiveEvent], reachesBackTo: Timestamp? = nil, isCutOff: Bool = false) {
        self.events = events
        self.reachesBackTo = reachesBackTo
        self.isCutOff = isCutOff
    }
}
