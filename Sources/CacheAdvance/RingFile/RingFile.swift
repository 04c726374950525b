import CPlatform
import Foundation
import Synchronization

/// A bounded ring of messages in a separate file, outside any store. When it is full, it either drops the oldest messages for new
/// ones, or rejects new ones. Safe from any thread, and from any number of processes that use this type; messages are appended
/// one at a time. Format, and behavior after crashes: RingFileFormat.
///
/// The file isn't mapped, because another program may truncate it at any time; then calls throw `damaged`. A message is in the
/// system's memory when ``append(_:)`` returns. The message then survives a crash of the process. It survives a power failure
/// only after ``synchronize()``.
///
/// Calls that read throw the errors of ``messages()``. Work and memory are proportional to the file's size, regardless of its
/// content. Reading delays appends by a fifth of a second at most, even if the reader was stopped in the middle.
public final class RingFile: Sendable {
    /// Largest message in bytes. Readers that count with 32 bits must be able to read it.
    public static let maximumMessageBytes = Int(Int32.max)

    /// Path that the file was opened with.
    public let path: String
    /// Largest size of the file in bytes, including its header of 64.
    public var maximumBytes: UInt64 { settings.maximumBytes }
    /// Whether a full file drops the oldest messages for new ones; otherwise appending fails.
    public var overwritesOldMessages: Bool { settings.overwritesOldMessages }

    private let settings: RingFileSettings
    let file: OpenFile
    private let isReadOnly: Bool
    private let forks = cp_watch_forks()
    private let threadLock = NSLock()
    /// Whether all messages have been verified as readable, which is required before the first append.
    private let isVerified = Atomic<Bool>(false)
    /// Whether messages must survive a power failure; never reset. Guarded by `threadLock`.
    private let isDurable = Atomic<Bool>(false)

    /// Opens the file at `path`, which must exist. An empty file gets its header with the first message, or by
    /// ``begin()``. A file that was created with other settings can be read but not appended to (``isWritable()``).
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - maximumBytes: any number. A message that doesn't fit is refused; below 69 none fits.
    ///   - overwritesOldMessages: whether a full file drops the oldest messages for new ones.
    ///   - isReadOnly: whether the file is only read.
    /// - Throws: `notAFile`, `system`.
    public convenience init(
        path: String, maximumBytes: UInt64, overwritesOldMessages: Bool, isReadOnly: Bool = false
    ) throws(RingFileError) {
        try self.init(
            path, maximumBytes: maximumBytes, overwritesOldMessages: overwritesOldMessages,
            isReadOnly: isReadOnly, beforeStep: nil)
    }

    /// For tests: calls `beforeStep` before each change of the file; an error that it throws prevents the change.
    package init(
        _ path: String, maximumBytes: UInt64, overwritesOldMessages: Bool, isReadOnly: Bool = false,
        beforeStep: (@Sendable (RingFileStep) throws(RingFileError) -> Void)?
    ) throws(RingFileError) {
        self.path = path
        settings = RingFileSettings(maximumBytes: maximumBytes, overwritesOldMessages: overwritesOldMessages)
        self.isReadOnly = isReadOnly
        file = try OpenFile(path, isReadOnly: isReadOnly, beforeStep: beforeStep)
    }

    // MARK: Reading

    /// All messages, oldest first, except those dropped during the call. Costs reading the file.
    /// - Throws: `damaged` if messages don't match the format, with the number of those before the damage;
    ///   `unsupportedVersion`, `inUse`, `system`.
    public func messages() throws(RingFileError) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        var losses = 0
        var reader = try RingFileReader(self)
        while let message = try reader.next() {
            if reader.losses != losses {
                // Messages were dropped, among them all that were read so far, because these are older.
                losses = reader.losses
                messages = []
            }
            messages.append(message)
        }
        return messages
    }

    /// Calls `body` with each message, oldest first, before throwing any error. Messages that others append during the
    /// call may be left out. Returns whether messages may have been dropped before they were read.
    @discardableResult
    public func forEachMessage(_ body: ([UInt8]) -> Void) throws(RingFileError) -> Bool {
        var reader = try RingFileReader(self)
        while let message = try reader.next() { body(message) }
        return reader.losses > 0
    }

    /// Whether there are no messages. Costs one read.
    public func isEmpty() throws(RingFileError) -> Bool {
        try reading { () throws(RingFileError) in try readHeader()?.header.isEmpty ?? true }
    }

    /// Whether messages can be appended: the file is empty, or was created with these settings.
    public func isWritable() throws(RingFileError) -> Bool {
        try reading { () throws(RingFileError) in
            guard !isReadOnly else { return false }
            return try readHeader().map { $0.header.settings == settings } ?? true
        }
    }

    // MARK: Appending

    /// Writes the header of an empty file, with the settings of this object; leaves any other file unchanged.
    /// Costs one system call besides the lock. Throws like ``append(_:)``.
    public func begin() throws(RingFileError) {
        guard !isReadOnly else { throw .readOnly(path: path) }
        try alone { () throws(RingFileError) in
            if try readHeader() == nil { _ = try writeHeader() }
        }
    }

    /// Appends a message. Costs three system calls besides the locks, and two or three more if old messages are
    /// dropped. The first call verifies that all present messages are readable, because a message behind damage would
    /// be lost: that costs reading the file, up to 16 KiB of each message, while others may append.
    ///
    /// - Throws: `otherSettings`; `emptyMessage`; `messageTooLarge` if the message doesn't fit (into the space left, or
    ///   for an overwriting ring into the file), and then nothing has changed; `closed` if the file was removed;
    ///   `damaged`, `unsupportedVersion`, `readOnly`, `inUse`, `system`.
    public func append(_ message: [UInt8]) throws(RingFileError) {
        guard !isReadOnly else { throw .readOnly(path: path) }
        guard !message.isEmpty else { throw .emptyMessage(path: path) }
        try verify()
        try alone { () throws(RingFileError) in
            let found = try headerToAppend()
            guard message.count <= RingFile.maximumMessageBytes, UInt64(message.count) + 4 <= space else {
                throw .messageTooLarge(bytes: message.count, limit: space >= 4 ? space - 4 : 0, path: path)
            }
            var (header, fileBytes) = if let found { found } else { try writeHeader() }
            let needed = UInt64(RingFileHeader.lengthBytes + message.count)
            if overwritesOldMessages {
                try dropOldest(for: needed, &header, &fileBytes)
            } else if header.isWrapped || needed > maximumBytes - min(maximumBytes, header.end) {
                let left = maximumBytes - min(maximumBytes, header.end)
                throw .messageTooLarge(bytes: message.count, limit: left >= 4 ? left - 4 : 0, path: path)
            }
            var bytes = withUnsafeBytes(of: UInt32(message.count).bigEndian) { Array($0) }
            bytes += message
            try file.write(bytes, at: Int(header.end))
            // The message counts from here on.
            header.end += needed
            try writePlaces(header)
        }
    }

    /// Returns when everything appended before is on the medium. A power failure then loses none of these messages.
    ///
    /// From the first call on, this object also syncs which messages are dropped before it overwrites them. To avoid
    /// such a sync at every append, it drops a 64th of the file at once. All other objects and processes that append to
    /// the file must have called this once, too; otherwise an overwrite by one of them may cost all messages at a power
    /// failure. Throws `closed`, `system`.
    public func synchronize() throws(RingFileError) {
        try inSequence { (_) throws(RingFileError) in
            isDurable.store(true, ordering: .relaxed)
            try file.synchronize()
        }
    }

    private func verify() throws(RingFileError) {
        guard !isVerified.load(ordering: .acquiring) else { return }
        var reader = try RingFileReader(self)
        while reader.position != nil { try reader.skip() }
        isVerified.store(true, ordering: .releasing)
    }

    private var space: UInt64 { maximumBytes - min(maximumBytes, UInt64(RingFileHeader.bytes)) }

    private func writeHeader() throws(RingFileError) -> (RingFileHeader, fileBytes: Int) {
        let header = RingFileHeader(settings: settings)
        do throws(RingFileError) {
            try file.write(header.encoded)
        } catch {
            // A partial header would be rejected permanently.
            try? file.truncate(to: 0)
            throw error
        }
        return (header, RingFileHeader.bytes)
    }

    private func headerToAppend() throws(RingFileError) -> (RingFileHeader, fileBytes: Int)? {
        guard let (header, fileBytes) = try readHeader() else { return nil }
        guard header.settings == settings else { throw .otherSettings(path: path, header.settings) }
        guard !header.isCutOff(fileBytes: fileBytes) else {
            throw .damaged(
                path: path, offset: 18, reason: "the newest message does not end in the file")
        }
        guard header.end <= maximumBytes else {
            throw .damaged(path: path, offset: 18, reason: "messages reach beyond the file's maximum")
        }
        return (header, fileBytes)
    }

    /// Drops the oldest messages until `needed` bytes fit, before overwriting. After each step the remaining messages are intact.
    private func dropOldest(
        for needed: UInt64, _ header: inout RingFileHeader, _ fileBytes: inout Int
    ) throws(RingFileError) {
        let first = UInt64(RingFileHeader.bytes)
        var isBeginning = false
        if header.end + needed > maximumBytes {
            if header.isWrapped {
                // Drops the messages located after the newest, because the file will end there.
                header.oldest = first
                try release(header)
            }
            isBeginning = true
        }
        guard isBeginning || header.isWrapped else { return }
        let start = isBeginning ? first : header.end
        // The new message must not end where the oldest one begins: that would mean an empty ring.
        var reader = RingFileReader(lockedRing: self, header, fileBytes: fileBytes)
        var oldest = reader.position.map { UInt64($0) }
        func isInTheWay(_ place: UInt64, of bytes: UInt64) -> Bool {
            place >= start && place - start <= bytes && (isBeginning || place > header.end)
        }
        while let place = oldest, isInTheWay(place, of: needed) {
            try reader.skip()
            oldest = reader.position.map { UInt64($0) }
        }
        if oldest != header.oldest, isDurable.load(ordering: .relaxed) {
            // Drops further messages, but never the newest one, so that the next appends need no sync.
            let ahead = needed + maximumBytes / 64
            while let place = oldest, isInTheWay(place, of: ahead) {
                try reader.skip()
                guard let next = reader.position else { break }
                oldest = UInt64(next)
            }
        }
        if oldest == nil {
            // The message needs all the space: the ring becomes empty before the first message is overwritten.
            header.oldest = start
            header.end = start
            try release(header)
        } else if let oldest, oldest != header.oldest {
            header.oldest = oldest
            try release(header)
        }
        guard isBeginning, !header.isEmpty else { return }
        // The file ends after the newest remaining message; readers continue at the beginning from there.
        if fileBytes > Int(header.end) {
            try file.truncate(to: Int(header.end))
            fileBytes = Int(header.end)
            try synchronizeIfDurable()
        }
        header.end = first
    }

    /// Publishes that messages are dropped. When this returns, their bytes may be overwritten or truncated.
    private func release(_ header: RingFileHeader) throws(RingFileError) {
        try writePlaces(header)
        try synchronizeIfDurable()
    }

    private func synchronizeIfDurable() throws(RingFileError) {
        if isDurable.load(ordering: .relaxed) { try file.synchronize() }
    }

    private func writePlaces(_ header: RingFileHeader) throws(RingFileError) {
        try file.write(header.encodedPlaces, at: RingFileHeader.placesOffset)
    }

    func readHeader() throws(RingFileError) -> (header: RingFileHeader, fileBytes: Int)? {
        let status = try file.status()
        // Messages in a file without a name would never be found.
        guard status.links > 0 else { throw .closed(path: path) }
        let fileBytes = status.bytes
        guard fileBytes > 0 else { return nil }
        let bytes = try file.read(atMost: RingFileHeader.bytes)
        return (try RingFileHeader(bytes, fileBytes: fileBytes, path: path), fileBytes)
    }

    private static let timeoutNanoseconds: Int64 = 10_000_000_000
    /// Longest time in nanoseconds of a read without a lock. A stopped reader delays appends by twice that at most.
    private static let unlockedReadNanoseconds: Int64 = 100_000_000
    // The locked byte is beyond the end of any file. A lock doesn't require that the byte exists.
    private static let appendingByte = 1 << 62
    private static let readingByte = 1 << 62 + 1

    /// Runs `body` with exclusive use of the file. Readers without a lock repeat their reads afterwards.
    private func alone<Value>(_ body: () throws(RingFileError) -> Value) throws(RingFileError) -> Value {
        try inSequence { (wait) throws(RingFileError) in
            // This lock keeps readers from starting, so that frequent readers can't block writers indefinitely.
            try wait.until { () throws(RingFileError) in
                try file.lockByte(RingFile.appendingByte, .exclusive)
            }
            defer { file.unlockByte(RingFile.appendingByte) }
            // This lock excludes other programs, and readers that hold it because they need more time.
            try wait.until { () throws(RingFileError) in try file.lock(.exclusive) }
            defer { file.unlock() }
            if OpenFile.hasByteLocks {
                // Readers without a lock started before this one. Waits until their time is over: then they discard what they read.
                let readers = LimitedWait(RingFile.unlockedReadNanoseconds * 2, path)
                try? readers.until { () throws(RingFileError) in !file.isByteLocked(RingFile.readingByte) }
            }
            return try body()
        }
    }

    /// Returns the result of `body` while no process appends. May repeat it, so `body` must be short and change nothing.
    func reading<Value>(_ body: () throws(RingFileError) -> Value) throws(RingFileError) -> Value {
        try inSequence { (wait) throws(RingFileError) in
            for _ in 0..<(OpenFile.hasByteLocks ? 4 : 0) {
                var start: Int64 = 0
                try wait.until { () throws(RingFileError) in
                    start = cp_monotonic_time()
                    _ = try file.lockByte(RingFile.readingByte, .shared)
                    if !file.isByteLocked(RingFile.appendingByte) { return true }
                    file.unlockByte(RingFile.readingByte)
                    return false
                }
                let seen = Result { () throws(RingFileError) in try body() }
                let nanoseconds = cp_monotonic_time() - start
                file.unlockByte(RingFile.readingByte)
                // If the read took longer, a writer may have stopped waiting for it, and appended.
                if nanoseconds < RingFile.unlockedReadNanoseconds { return try seen.get() }
            }
            // `body` takes too long, for example for a message of gigabytes: repeats it with the lock.
            try wait.until { () throws(RingFileError) in
                if OpenFile.hasByteLocks, file.isByteLocked(RingFile.appendingByte) { return false }
                return try file.lock(.shared)
            }
            defer { file.unlock() }
            return try body()
        }
    }

    private func inSequence<Value>(
        _ body: (LimitedWait) throws(RingFileError) -> Value
    ) throws(RingFileError) -> Value {
        // A forked process shares its parent's lock, which would admit both.
        guard cp_fork_count() == forks else { throw .closed(path: path) }
        threadLock.lock()
        defer { threadLock.unlock() }
        return try body(LimitedWait(RingFile.timeoutNanoseconds, path))
    }

    /// Waits for other processes, with one time limit for all waits together.
    private struct LimitedWait: Sendable {
        let end: Int64
        let path: String

        init(_ nanoseconds: Int64, _ path: String) {
            end = cp_monotonic_time() + nanoseconds
            self.path = path
        }

        func until(_ isDone: () throws(RingFileError) -> Bool) throws(RingFileError) {
            var pause: Int64 = 20_000
            while try isDone() == false {
                guard cp_monotonic_time() < end else { throw .inUse(path: path) }
                cp_sleep(pause)
                pause = min(2 * pause, 2_000_000)
            }
        }
    }
}
