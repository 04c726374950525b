import SystemC

#if DEBUG
import Synchronization
#endif

/// Places at which tests can kill a process (R2), each named for the step just completed.
package enum CrashPoint: String, CaseIterable, Sendable {
    // Creating a store and an archive, and removing one
    case markerRenamed, archiveFolderMade, descriptorWritten, descriptorRenamed, archiveRenamed
    // Looking up, when the slot has to be read
    case frameFound
    // Applying a touch
    case touchBegun
    // Storing
    case putFrameWritten, putIndexChanged, putCommitted, evictionRemoved, entryNamed, recencyUnlinked,
        entryAllocated
    case bucketSplit, indexExtended
    // Frames without a value: delete, deleteAll, evict
    case bareFrameWritten, bareApplied, entryUnlinked, entriesCleared, limitsSet,
        policyPrepared
    // Batches
    case batchBegun, batchWritten, batchMarked, batchEntryChanged, batchDecided, batchCommitted
    case batchEntryFilled, batchVictimRemoved, batchHeadMoved
    // Removing many entries, and tombstoning
    case removalFrameWritten, tombstoneMarked, tombstoneLinked, tombstoneDropped, overwritten
    // Restoring
    case restoreFrameWritten, returnBegun, broughtBack, restoreCommitted, restoreSettled, restoreSpaceFreed
    // Expiry times, and memory-only entries
    case deadlineWritten, deadlineSet, residentRecorded
    // Messages
    case messageWritten, messageCounted, messagesDropped, messagesShortened
    // Shrinking the index
    case compactMoved, bucketMerged, compactEmptied, indexShrunk
    // Segments
    case segmentCreated, segmentBegun, segmentExtended, moveWritten, moveApplied, segmentForgotten
    case segmentUnlinked, segmentDropped, segmentEmptied, keptWritten, keptApplied
    // Durability
    case segmentsSynced, headSynced
    // Opening and recovery
    case indexHeaderRead, processAttached, oldIndexRemoved, indexFileMade, rebuildSegmentDone, indexBuilt,
        indexRenamed
    case repairBegun, repairRelinked, repairReplayed, repairSorted

    /// Kills or signals this process when it reaches `point` for the `passing`-th time; not in release builds.
    package static func arm(_ point: CrashPoint, passing: Int, signal: Int32 = SIGKILL) {
        #if DEBUG
        armed.withLock { $0 = (point, passing, signal) }
        isArmed.store(true, ordering: .relaxed)
        #endif
    }

    #if DEBUG
    private static let isArmed = Atomic<Bool>(false)
    private static let armed = Guarded<(point: CrashPoint, left: Int, signal: Int32)?>(nil)

    @inline(__always) fileprivate static func pass(_ point: CrashPoint) {
        if isArmed.load(ordering: .relaxed) { count(point) }
    }

    @inline(never) private static func count(_ point: CrashPoint) {
        let signal: Int32? = armed.withLock { armed in
            guard let present = armed, present.point == point else { return nil }
            armed?.left -= 1
            return present.left == 1 ? present.signal : nil
        }
        guard let signal else { return }
        // To this thread, so that it stops here.
        raise(signal)
        // The signal may take a moment, in which no code may run.
        while signal == SIGKILL { pause() }
    }
    #endif
}

/// Marks a crash point; compiles to nothing in release builds.
@inline(__always) func crashPoint(_ point: CrashPoint) {
    #if DEBUG
    CrashPoint.pass(point)
    #endif
}
