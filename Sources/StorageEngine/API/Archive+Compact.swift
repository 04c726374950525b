/// Giving room back at once, which the background does in time by itself (S14).
extension Archive {
    /// Gives back the room of what was deleted, evicted or expired. Values that live among it are copied; others use the archive
    /// meanwhile. Costs reading and writing what lives in the segments that have dead bytes.
    ///
    /// - Parameters:
    ///   - givingUpUndo: also the room of what ``undo(_:progress:)`` could still bring back, which it then can't any more.
    ///   - progress: gets the share that is done, 0 to 1, now and then, and ends it by `false`: what was given back stays so.
    public func compact(
        givingUpUndo: Bool = false, progress: (Double) -> Bool = { _ in true }
    ) throws(StorageError) {
        try finishingChange { (engine) throws(StorageError) in
            try engine.compactNow(givingUpUndo: givingUpUndo, progress: progress)
        }
    }

    /// Drops all messages of a log; that can't be undone. Others that have it open go on appending.
    /// - Throws: `wrongKind` for an archive that is no log.
    @discardableResult
    public func deleteAllMessages() throws(StorageError) -> Removal {
        try finishingChange { (engine) throws(StorageError) in
            guard engine.kind == .log else {
                throw .wrongKind(archive: name, kind: engine.kind, operation: "delete all messages")
            }
            return try engine.emptyLog()
        }
    }
}
