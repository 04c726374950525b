extension Archive {
    /// Frees the space of deleted, evicted and expired entries. Copies the live values of segments that have dead
    /// bytes; other processes can use the archive at the same time. Costs reading and writing these values.
    ///
    /// - Parameters:
    ///   - givingUpUndo: also frees the space of entries that ``undo(_:progress:)`` could restore; then it no longer
    ///     can.
    ///   - progress: gets the fraction done, 0 to 1, now and then; return `false` to stop. Freed space stays free.
    public func compact(
        givingUpUndo: Bool = false, progress: (Double) -> Bool = { _ in true }
    ) throws(StorageError) {
        try finishingChange { (engine) throws(StorageError) in
            try Compaction(engine: engine).compact(givingUpUndo: givingUpUndo, progress: progress)
        }
    }

    /// Drops all messages of a log; this can't be undone. Throws also `wrongKind` if the archive isn't a log.
    @discardableResult
    public func deleteAllMessages() throws(StorageError) -> Removal {
        try finishingChange { (engine) throws(StorageError) in
            guard engine.kind == .log else {
                throw .wrongKind(archive: name, kind: engine.kind, operation: "delete all messages")
            }
            return try Compaction(engine: engine).emptyLog()
        }
    }
}
