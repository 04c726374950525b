/// Drops data on a full disk, so that an archive can still be changed. Rules: OnDiskFormat, "A full disk".
struct FullDisk: ArchiveOperation {
    let engine: ArchiveEngine

    /// Calls `change` of this size in bytes. On a full disk, repeats it after dropping data.
    @inline(__always) func retrying<Result>(
        bytes: @autoclosure () -> Int, _ change: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        do throws(StorageError) {
            return try change()
        } catch {
            guard error.isNoSpace else { throw error }
            return try retryAfterDropping(for: bytes(), refusal: error, change)
        }
    }

    /// Repeats a failed `change` after dropping undo records, then old segments, of at most `bytes` and two segments' size.
    @inline(never) private func retryAfterDropping<Result>(
        for bytes: Int, refusal: StorageError, _ change: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        var refusal = refusal
        var left = bytes + 2 * engine.segmentTarget
        while left > 0 {
            let given = try dropSome(for: bytes)
            guard given > 0 else { throw refusal }
            left -= given
            do throws(StorageError) {
                return try change()
            } catch {
                guard error.isNoSpace else { throw error }
                refusal = error
            }
        }
        throw refusal
    }

    /// Returns the freed bytes; 0 if nothing could be dropped.
    private func dropSome(for bytes: Int) throws(StorageError) -> Int {
        let section = try engine.acquireDrained()
        let before = index.segmentBytes
        if index.tombstoneCount > 0 {
            section.discardUndoAndShrink()
            return max(1, before - index.segmentBytes)
        }
        section.dropDeadSegments()
        // No entries are dropped for a value that is larger than all segments (S4).
        if index.segmentBytes == before, bytes < before {
            guard try section.dropOldestSegment() else { return 0 }
            // The segment's file may already have been missing; then the next segment is dropped.
            return max(1, before - index.segmentBytes)
        }
        return before - index.segmentBytes
    }
}
