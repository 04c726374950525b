import CPlatform

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One archive as this process has it open: its index, its log and its lock. Safe from any thread: what
/// changes is in the index, under the archive's lock or with atomic instructions.
///
/// The operations are in the other files of this folder; how a handle comes to be is in `Recovery`.
final class ArchiveEngine: Sendable {
    let name: String
    let folder: OpenFile
    let hash: KeyHash
    let index: IndexMemory
    let log: SegmentLog
    let lock: ArchiveLock
    /// This process' line in the process table; `nil` for an observer, which leaves no trace.
    let processSlot: ProcessSlot?
    /// Held shared while the archive is open for writing, so that nobody rebuilds the index meanwhile.
    let attachment: OpenFile?
    /// The file of an observed index, to notice when another takes its place.
    let indexFile: OpenFile?
    let pid: Int32
    /// What this process does to keep the archive's durability.
    let syncing: Syncing

    /// How long a user of the archive waits for its lock before it gives up.
    static let patienceNanoseconds: Int64 = 10_000_000_000

    init(
        name: String, folder: OpenFile, hash: KeyHash, index: IndexMemory, log: SegmentLog, lock: ArchiveLock,
        processSlot: ProcessSlot?, attachment: OpenFile?, indexFile: OpenFile? = nil
    ) {
        self.name = name
        self.folder = folder
        self.hash = hash
        self.index = index
        self.log = log
        self.lock = lock
        self.processSlot = processSlot
        self.attachment = attachment
        self.indexFile = indexFile
        pid = getpid()
        syncing = Syncing(folder: folder)
    }

    // MARK: The lock

    /// Takes the lock, and repairs what a dead holder left half done before anyone sees it (F5).
    @inline(__always)
    func acquire() throws(StorageError) {
        guard attachment != nil else { throw .readOnly(operation: "change \"\(name)\"") }
        let outcome = lock.acquire(nanoseconds: ArchiveEngine.patienceNanoseconds)
        guard case .acquired = outcome else { throw refusal(outcome) }
        if index.word64(IndexLayout.sectionOwnerOffset) != 0
            || index.word32(IndexLayout.stateOffset) != IndexLayout.State.ready.rawValue
        {
            try recoverSection()
        }
        index.set64(IndexLayout.sectionOwnerOffset, UInt64(UInt32(bitPattern: pid)))
        log.releaseSegments(before: index.word32(IndexLayout.oldestSegmentOffset))
    }

    private func refusal(_ outcome: ArchiveLock.Outcome) -> StorageError {
        if case .failed(let code) = outcome {
            return .system(operation: "lock", path: folder.path, code: code)
        }
        return .busy(
            archive: name,
            process: Int32(truncatingIfNeeded: index.word64(IndexLayout.sectionOwnerOffset)),
            reason:
                "it did not let go within \(ArchiveEngine.patienceNanoseconds / 1_000_000_000) s; resume or end it"
        )
    }

    @inline(__always)
    func release() {
        index.set64(IndexLayout.sectionOwnerOffset, 0)
        lock.release()
    }

    @inline(never)
    private func recoverSection() throws(StorageError) {
        let state = index.word32(IndexLayout.stateOffset)
        guard state == IndexLayout.State.ready.rawValue else {
            lock.release()
            if state == IndexLayout.State.building.rawValue { throw .closed(name: name) }
            if state == IndexLayout.State.syncFailed.rawValue { throw .syncFailed(path: folder.path) }
            throw .corrupted(
                path: folder.path + "/" + ArchiveOpening.indexName, offset: 0,
                reason:
                    "the index contradicts itself; it is built anew when all processes have closed the archive"
            )
        }
        do throws(StorageError) {
            try repair()
        } catch {
            lock.release()
            throw error
        }
    }

    /// Applies pending touches if nobody holds the lock now.
    @inline(never)
    func drainIfFree() {
        guard processSlot != nil, lock.tryAcquire() else { return }
        defer { lock.release() }
        guard index.word64(IndexLayout.sectionOwnerOffset) == 0,
            index.word32(IndexLayout.stateOffset) == IndexLayout.State.ready.rawValue
        else { return }
        index.set64(IndexLayout.sectionOwnerOffset, UInt64(UInt32(bitPattern: pid)))
        index.drainTouches(before: index.stampsTaken)
        index.set64(IndexLayout.sectionOwnerOffset, 0)
    }

    /// Gives the line in the process table back; its counts stay with the archive. Not to be used afterwards.
    func detach() {
        endSyncing()
        defer { attachment?.unlock() }
        guard let processSlot, processSlot.pid == UInt32(bitPattern: pid) else { return }
        do throws(StorageError) {
            try acquire()
        } catch {
            return
        }
        index.drainTouches(before: index.stampsTaken)
        index.detach(processSlot)
        release()
    }

    /// Whether an observed index was replaced, so that the archive must be opened again.
    var isSuperseded: Bool {
        guard let indexFile else { return false }
        guard let status = try? indexFile.status() else { return true }
        return status.links == 0
    }

    // MARK: Header fields that several operations use

    var head: Location {
        get { Location(raw: index.word64(IndexLayout.headOffset)) }
        set { index.set64(IndexLayout.headOffset, newValue.raw) }
    }
    var oldestSegment: UInt32 { index.word32(IndexLayout.oldestSegmentOffset) }
    var valueBytes: UInt64 { UInt64(index.size(IndexLayout.valueBytesOffset)) }
    var entryCount: Int { index.size(IndexLayout.entryCountOffset) }
    /// `nil`: no limit.
    var diskLimit: UInt64? {
        let limit = index.word64(IndexLayout.diskLimitOffset)
        return limit == .max ? nil : limit
    }

    @inline(__always)
    func adjust(_ offset: Int, by amount: Int) {
        index.set64(offset, index.word64(offset) &+ UInt64(bitPattern: Int64(amount)))
    }

    @inline(__always)
    func adjustLive(_ location: Location, by bytes: Int) {
        let live = index.liveBytes(ofSegment: location.segment)
        index.setLiveBytes(ofSegment: location.segment, live &+ UInt64(bitPattern: Int64(bytes)))
        adjust(IndexLayout.liveFrameBytesOffset, by: bytes)
    }

    static func validate(key: UnsafeRawBufferPointer) throws(StorageError) {
        guard key.count > 0 else { throw .invalidKey(reason: "it is empty; use 1 to 1,024 bytes") }
        guard key.count <= Frame.maximumKeyBytes else {
            throw .invalidKey(reason: "\(key.count) bytes; use at most 1,024")
        }
    }
}
