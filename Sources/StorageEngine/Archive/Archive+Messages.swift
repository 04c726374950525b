extension Archive {
    /// Appends a message and returns its number, which is higher than that of every earlier message; numbers may be skipped. The
    /// message survives a crash of this process as soon as the call returns.
    /// - Throws: `valueTooLarge`, and then nothing is dropped; `wrongKind` for an archive that isn't a log.
    @discardableResult public func append(_ message: [UInt8]) throws(StorageError) -> UInt64 {
        try withBytes(of: message) { (bytes) throws(StorageError) in try append(bytes: bytes) }
    }

    /// Like ``append(_:)`` for bytes that the caller has in memory.
    @discardableResult public func append(bytes: UnsafeRawBufferPointer) throws(StorageError) -> UInt64 {
        try finishingChange { (engine) throws(StorageError) in
            try engine.requireLog(to: "append")
            let size = Frame.bytes(key: 0, extension: 0, value: bytes.count)
            return try FullDisk(engine).retrying(bytes: size) { () throws(StorageError) in
                try MessageWriter(engine).append(engine.acquire(), bytes)
            }
        }
    }

    /// Messages after a cursor, oldest first; `nil`: from the oldest. Returns at most `most` messages and ends with the one that
    /// reaches `mostBytes`. With `end`, only messages before it; ``cursor(beforeLast:of:)`` with 0 returns the current end of the
    /// log. Writes nothing. Skips damaged messages. To follow the log, wait with ``waitForEvents(from:atMost:)`` and continue
    /// from ``MessageBatch/next``. If the cursor's location was lost with a damaged part of the log, continues with the next
    /// message after it; this search reads the log once.
    /// - Throws: also `wrongKind` for an archive that isn't a log.
    public func messages(
        after cursor: MessageCursor? = nil, before end: MessageCursor? = nil, most: Int = 1000,
        mostBytes: Int = .max
    ) throws(StorageError) -> MessageBatch {
        while true {
            let engine = try logEngine()
            let batch = try MessageReader(engine).messages(
                from: cursor, before: end, most: max(0, most), mostBytes: max(1, mostBytes))
            // An overwritten header doesn't describe the log. An observer opens it again.
            if engine.attachment != nil || engine.index.isHeaderIntact { return batch }
        }
    }

    /// The cursor before the last `count` messages of the log, or of those before `end`. Costs as much as skipping them. Throws
    /// also `wrongKind` for an archive that isn't a log.
    public func cursor(
        beforeLast count: Int, of end: MessageCursor? = nil
    ) throws(StorageError) -> MessageCursor {
        try MessageReader(logEngine()).cursor(beforeLast: count, of: end)
    }

    /// At most `count` messages, oldest first. `behind` messages followed the first one when the log had `appended`
    /// (``ArchiveStatus/records``). `missing`: how many of the requested messages no longer exist; they precede the found
    /// ones. Costs as much as skipping those behind.
    package func messages(
        count: Int, behind: Int, appended: UInt64
    ) throws(StorageError) -> (missing: Int, found: [LogMessage]) {
        while true {
            let engine = try logEngine()
            let result = try MessageReader(engine).messages(count: count, behind: behind, appended: appended)
            if engine.attachment != nil || engine.index.isHeaderIntact { return result }
        }
    }

    private func logEngine() throws(StorageError) -> ArchiveEngine {
        let engine = try engine()
        try engine.requireLog(to: "read messages")
        return engine
    }
}
