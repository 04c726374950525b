/// An archive of kind `log` is a ring of messages: appended at one end, dropped at the other when the limit
/// leaves no room.
extension Archive {
    /// Appends a message and returns its number, which is higher than that of every message before; numbers may be
    /// skipped. The message survives the death of
    /// this process as soon as the call returns.
    /// - Throws: `valueTooLarge`, and then nothing is dropped; `wrongKind` for an archive that is no log.
    @discardableResult
    public func append(_ message: [UInt8]) throws(StorageError) -> UInt64 {
        let result: Result<UInt64, StorageError> = message.withUnsafeBytes { bytes in
            Result { () throws(StorageError) in try append(bytes: bytes) }
        }
        return try result.get()
    }

    /// As ``append(_:)`` for bytes that the caller has in memory.
    @discardableResult
    public func append(bytes: UnsafeRawBufferPointer) throws(StorageError) -> UInt64 {
        let engine = try engine()
        guard engine.kind == .log else {
            throw .wrongKind(archive: name, kind: engine.kind, operation: "append")
        }
        let number = try engine.appendMessage(bytes)
        try engine.settle()
        return number
    }

    /// Messages from a cursor on, oldest first, at most `most`, and no more behind the one with which they have `mostBytes`;
    /// `nil`: from the oldest. With `end`, only those before
    /// it: a cursor from ``cursor(beforeLast:)`` with 0 is the end of the log as it is then. Leaves no trace. Damaged
    /// messages are passed over. To follow the log, wait with ``waitForEvents(from:atMost:)`` and read on from
    /// ``MessageBatch/next``.
    public func messages(
        after cursor: MessageCursor? = nil, before end: MessageCursor? = nil, most: Int = 1000,
        mostBytes: Int = .max
    ) throws(StorageError) -> MessageBatch {
        try logEngine().messages(from: cursor, before: end, most: max(0, most), mostBytes: max(1, mostBytes))
    }

    /// Where the last `count` messages begin, of all or of those before another cursor. Costs as much as passing over
    /// them.
    public func cursor(
        beforeLast count: Int, of end: MessageCursor? = nil
    ) throws(StorageError) -> MessageCursor {
        try logEngine().cursor(beforeLast: count, of: end)
    }

    private func logEngine() throws(StorageError) -> ArchiveEngine {
        let engine = try engine()
        guard engine.kind == .log else {
            throw .wrongKind(archive: name, kind: engine.kind, operation: "read messages")
        }
        return engine
    }
}
