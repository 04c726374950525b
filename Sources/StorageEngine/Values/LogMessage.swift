/// A message of a log archive.
public struct LogMessage: Sendable, Hashable {
    /// The message's number, higher than all before. A gap isn't a loss: an interrupted append also uses a number.
    public var sequence: UInt64
    /// When the message was appended.
    public var time: Timestamp
    /// The message.
    public var bytes: [UInt8]
}

/// A position between two messages of one log. Appending and dropping messages doesn't invalidate it. After the archive's index
/// was rebuilt because a part of the log was damaged or lost, it stands before the first message with the next number or a higher
/// one. In another log, also a recreated one, it stands before all messages.
public struct MessageCursor: Sendable, Hashable {
    let log: UInt64
    let salt: UInt64
    let place: UInt64
    /// Number of the next message, if known. It shows the number of lost messages if the ring has overwritten this position.
    var expected: UInt64?
}

/// Messages of one read, in the order in which they were appended.
public struct MessageBatch: Sendable, Hashable {
    /// The messages, oldest first.
    public var messages: [LogMessage]
    /// The position after these messages.
    public var next: MessageCursor
    /// Whether messages at or after the requested position are missing: dropped before they were read, or damaged.
    public var someAreLost: Bool
    /// Whether some of the missing messages are damaged, or in a missing part of the log.
    public var someAreDamaged: Bool
}
