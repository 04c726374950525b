/// A message of a log archive.
public struct LogMessage: Sendable, Hashable {
    /// Grows with each message of the archive. Numbers may be skipped (that of an append that was cut short by the
    /// death of its process is not given again), so a gap doesn't mean that a message was lost.
    public var sequence: UInt64
    public var time: Timestamp
    public var bytes: [UInt8]
}

/// A place between two messages; stays right while messages are appended and dropped, until the archive's
/// index is built anew.
public struct MessageCursor: Sendable, Hashable {
    let place: UInt64
    /// Number of the message that comes next, if that is known: a ring that moved on past the place has lost only what
    /// lies before it.
    var expected: UInt64?
}

/// Messages in the order in which they were appended.
public struct MessageBatch: Sendable, Hashable {
    public var messages: [LogMessage]
    /// The place behind them.
    public var next: MessageCursor
    /// Whether messages at or behind the place that was asked for are missing: dropped from the ring before they were
    /// read, or damaged.
    public var someAreLost: Bool
    /// Whether some of these are damaged: they are in the log and can't be read.
    public var someAreDamaged: Bool
}
