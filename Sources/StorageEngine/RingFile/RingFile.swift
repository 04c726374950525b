import CPlatform
import Synchronization

/// A bounded ring of messages in one file of its own, outside any store: the oldest make room for new ones, or nothing is
/// appended once it is full. Safe from any thread, and from any number of processes that use this type; one message is
/// appended at a time. The file's format, and what a crash leaves: RingFileFormat.
///
/// Nothing of the file is mapped, since another program may cut it off at any time; then calls throw `corrupted`. A message
/// is in the system's memory when ``append(_:)`` returns: it survives the death of the process, and a power failure only
/// after ``synchronize()``.
///
/// Work and memory are in proportion to the file's size, whatever it holds. Reading keeps no message from being
/// appended for longer than a fifth of a second, also where the reader was stopped in the middle of it.
public final class RingFile: Sendable {
    /// Most bytes of a message: readers of 32 bits must be able to count them.
    public static let maximumMessageBytes = Int(Int32.max)

    public let path: String
    /// Most bytes that the file may have, its header of 64 included.
    public let maximumBytes: UInt64
    public let overwritesOldMessages: Bool

    let file: OpenFile
    private let isReadOnly: Bool
    private let forks = cp_watch_forks()
    /// Lets one thread at a time use the file; what it guards is the file itself.
    private let turn = Guarded<Void>(())
    /// Whether all messages were found to be readable before the first was appended.
    private let isVerified = Guarded<Bool>(false)
    /// Whether messages must survive a power failure; never reset. Guarded by `turn`.
    private let isDurable = Atomic<Bool>(false)

    /// Opens the file at `path`, which must exist; an empty one is begun with the first message, or by ``begin()``. A file that was made with
    /// other settings can be read and not appended to (``isWritable()``).
    ///
    /// - Parameter maximumBytes: any number: a message that doesn't fit is refused, and below 69 none does.
    /// - Throws: `corrupted` for what is no regular file; `permissionDenied`, `system`.
    public init(
        path: String, maximumBytes: UInt64, overwritesOldMessages: Bool, mode: AccessMode = .readWrite
    ) throws(StorageError) {
        self.path = path
        self.maximumBytes = maximumBytes
        self.overwritesOldMessages = overwritesOldMessages
        file = try OpenFile.file(at: path, writable: mode == .readWrite)
        isReadOnly = mode == .readOnly
    }

    // MARK: Reading

    /// All messages, the oldest first. Where old ones make room meanwhile, those are left out. Costs reading the file.
    /// - Throws: `damagedRingFile` where they are not what the format says, and how many there are before;
    ///   `unsupportedVersion`, `ringFileInUse`, `system`.
    public func messages() throws(StorageError) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        var losses = 0
        var reader = try RingFileReader(self)
        while let message = try reader.next() {
            if reader.losses != losses {
                // What was read before is no longer there either: it was older.
                losses = reader.losses
                messages = []
            }
            messages.append(message)
        }
        return messages
    }

    /// Calls `body` with each message, the oldest first; before an error with those that could be read. Others may append
    /// meanwhile: what comes after the call began may be left out.
    /// - Returns: whether messages may have made room before they were read.
    /// - Throws: as ``messages()``.
    @discardableResult
    public func forEachMessage(_ body: ([UInt8]) -> Void) throws(StorageError) -> Bool {
        var reader = try RingFileReader(self)
        while let message = try reader.next() { body(message) }
        return reader.losses > 0
    }

    /// Whether there is no message. Costs one read.
    public func isEmpty() throws(StorageError) -> Bool {
        try looked { () throws(StorageError) in try readHeader()?.header.isEmpty ?? true }
    }

    /// Whether the file was made with these settings, so that messages can be appended; also an empty one.
    public func isWritable() throws(StorageError) -> Bool {
        try looked { () throws(StorageError) in
            guard !isReadOnly else { return false }
            return try readHeader().map { isOurs($0.header) } ?? true
        }
    }

    // MARK: Appending

    /// Makes an empty file a ring without messages, with these settings; another is left as it is. Costs one system call
    /// besides the lock.
    /// - Throws: as ``append(_:)``.
    public func begin() throws(StorageError) {
        guard !isReadOnly else { throw .readOnly(operation: "begin \(path)") }
        try alone { () throws(StorageError) in
            if try readHeader() == nil { _ = try writeHeader() }
        }
    }

    /// Appends a message. Costs three system calls besides the locks, and two or three more where old
    /// messages have to make room. The first call first looks whether all that is there can be read, for nobody could read a
    /// message behind damage: that costs reading the file, up to 16 KiB of each message, while others may append.
    ///
    /// - Throws: `invalidConfiguration` if the file was made with other settings, or the message is empty; `valueTooLarge`
    ///   if there is no room (for a ring that doesn't overwrite: left; for one that does: at all), and then nothing has
    ///   changed; `closed` if the file was removed; `damagedRingFile`, `unsupportedVersion`, `noSpace`, `readOnly`,
    ///   `ringFileInUse`, `system`.
    public func append(_ message: [UInt8]) throws(StorageError) {
        guard !isReadOnly else { throw .readOnly(operation: "append to \(path)") }
        guard !message.isEmpty else {
            throw .invalidConfiguration(reason: "a message of no bytes can't be in a ring file (\(path))")
        }
        try verify()
        try alone { () throws(StorageError) in
            let found = try headerToAppend()
            guard message.count <= RingFile.maximumMessageBytes, UInt64(message.count) + 4 <= room else {
                throw .valueTooLarge(bytes: message.count, limit: room >= 4 ? room - 4 : 0, archive: path)
            }
            var (header, fileBytes) = if let found { found } else { try writeHeader() }
            let needed = UInt64(RingFileHeader.lengthBytes + message.count)
            if overwritesOldMessages {
                try makeRoom(for: needed, &header, &fileBytes)
            } else if header.isWrapped || needed > maximumBytes - min(maximumBytes, header.end) {
                let left = maximumBytes - min(maximumBytes, header.end)
                throw .valueTooLarge(bytes: message.count, limit: left >= 4 ? left - 4 : 0, archive: path)
            }
            var bytes = withUnsafeBytes(of: UInt32(message.count).bigEndian) { Array($0) }
            bytes += message
            try file.write(bytes, at: Int(header.end))
            // It counts from here on.
            header.end += needed
            try writePlaces(header)
        }
    }

    /// Returns when all that was appended before is on the medium: a power failure loses none of it but what has made room.
    ///
    /// From the first call on, this object has the medium know which messages made room before it writes over them, which
    /// takes a sync. So that not each message takes one, they make room for a 64th of the file at once. Other objects and
    /// processes that append to the file must have called it once, too; what an object does that hasn't may, at a
    /// power failure, cost everything in the ring.
    public func synchronize() throws(StorageError) {
        try inTurn { (_) throws(StorageError) in
            isDurable.store(true, ordering: .relaxed)
            try file.synchronize()
        }
    }

    private func verify() throws(StorageError) {
        guard !isVerified.withLock({ $0 }) else { return }
        var reader = try RingFileReader(self)
        while reader.position != nil { try reader.skip() }
        isVerified.withLock { $0 = true }
    }

    private var room: UInt64 { maximumBytes - min(maximumBytes, UInt64(RingFileHeader.bytes)) }

    private func writeHeader() throws(StorageError) -> (RingFileHeader, fileBytes: Int) {
        let header = RingFileHeader(maximumBytes: maximumBytes, overwritesOldMessages: overwritesOldMessages)
        do throws(StorageError) {
            try file.write(header.encoded)
        } catch {
            // A part of a header would be refused ever after.
            try? file.truncate(to: 0)
            throw error
        }
        return (header, RingFileHeader.bytes)
    }

    /// `nil`: the file is yet to be begun.
    private func headerToAppend() throws(StorageError) -> (RingFileHeader, fileBytes: Int)? {
        guard let (header, fileBytes) = try readHeader() else { return nil }
        guard isOurs(header) else {
            throw .invalidConfiguration(
                reason: "\(path) was made for at most \(header.maximumBytes) bytes"
                    + (header.overwritesOldMessages ? ", overwriting" : ", without overwriting")
                    + "; open it like that, or begin another file")
        }
        guard !header.isCutOff(fileBytes: fileBytes) else {
            throw .damagedRingFile(
                path: path, offset: 18, reason: "the newest message does not end in the file")
        }
        guard header.end <= maximumBytes else {
            throw .damagedRingFile(path: path, offset: 18, reason: "messages reach beyond the file's maximum")
        }
        return (header, fileBytes)
    }

    /// Lets the oldest messages go until `needed` bytes fit behind the newest, or at the beginning. Each step leaves a
    /// file with all messages but those that have gone; what is to be overwritten is let go before.
    private func makeRoom(
        for needed: UInt64, _ header: inout RingFileHeader, _ fileBytes: inout Int
    ) throws(StorageError) {
        let first = UInt64(RingFileHeader.bytes)
        var isBeginning = false
        if header.end + needed > maximumBytes {
            if header.isWrapped {
                // All behind the newest has to go, for the file will end there.
                header.oldest = first
                try letGo(header)
            }
            isBeginning = true
        }
        guard isBeginning || header.isWrapped else { return }
        let start = isBeginning ? first : header.end
        // The end of what is written must not meet the oldest message: that would be an empty ring.
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
            // The newest stays, and what comes next needs no sync.
            let ahead = needed + maximumBytes / 64
            while let place = oldest, isInTheWay(place, of: ahead) {
                try reader.skip()
                guard let next = reader.position else { break }
                oldest = UInt64(next)
            }
        }
        if oldest == nil {
            // It takes the room of all: the ring is empty before the first of them is written over.
            header.oldest = start
            header.end = start
            try letGo(header)
        } else if let oldest, oldest != header.oldest {
            header.oldest = oldest
            try letGo(header)
        }
        guard isBeginning, !header.isEmpty else { return }
        // The file ends behind the newest of those that stay: there a reader goes on at the beginning.
        if fileBytes > Int(header.end) {
            try file.truncate(to: Int(header.end))
            fileBytes = Int(header.end)
            try synchronizeIfDurable()
        }
        header.end = first
    }

    /// Lets messages go: what they are in may be written over, or cut off, when this returns.
    private func letGo(_ header: RingFileHeader) throws(StorageError) {
        try writePlaces(header)
        try synchronizeIfDurable()
    }

    private func synchronizeIfDurable() throws(StorageError) {
        if isDurable.load(ordering: .relaxed) { try file.synchronize() }
    }

    private func writePlaces(_ header: RingFileHeader) throws(StorageError) {
        try file.write(header.encodedPlaces, at: RingFileHeader.placesOffset)
    }

    // MARK: The file

    private func isOurs(_ header: RingFileHeader) -> Bool {
        header.maximumBytes == maximumBytes && header.overwritesOldMessages == overwritesOldMessages
    }

    /// `nil`: the file has no byte yet.
    func readHeader() throws(StorageError) -> (header: RingFileHeader, fileBytes: Int)? {
        let status = try file.status()
        // What is appended to a file without a name, nobody will ever find.
        guard status.links > 0 else { throw .closed(name: path) }
        let fileBytes = status.bytes
        guard fileBytes > 0 else { return nil }
        let bytes = try file.read(atMost: RingFileHeader.bytes)
        return (try RingFileHeader(bytes, fileBytes: fileBytes, path: path), fileBytes)
    }

    private static let patienceNanoseconds: Int64 = 10_000_000_000
    /// For how long what a reader sees counts. A reader that was stopped keeps nobody waiting for longer than twice that.
    private static let lookNanoseconds: Int64 = 100_000_000
    // Bytes that no file has: locks need none.
    private static let appendingByte = 1 << 62
    private static let lookingByte = 1 << 62 + 1

    /// Has the file alone: nobody else appends, and what readers see meanwhile doesn't count.
    private func alone<Value: Sendable>(
        _ body: () throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        try inTurn { (patience) throws(StorageError) in
            // From here on no reader begins to look, so those that look again and again can't keep anybody out.
            try patience.wait { () throws(StorageError) in try file.lockByte(RingFile.appendingByte) }
            defer { file.unlockByte(RingFile.appendingByte) }
            // For readers that had no moment to look, and for other programs.
            try patience.wait { () throws(StorageError) in try file.lock(.exclusive, wait: false) }
            defer { file.unlock() }
            if OpenFile.hasByteLocks {
                // Whoever still looks has begun before; what it sees later doesn't count.
                let looks = Patience(RingFile.lookNanoseconds * 2, path)
                try? looks.wait { () throws(StorageError) in !file.isByteLocked(RingFile.lookingByte) }
            }
            return try body()
        }
    }

    /// What `body` sees while nobody appends. It is called again where that wasn't sure, so it must change nothing, and must be
    /// short.
    func looked<Value: Sendable>(
        _ body: () throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        try inTurn { (patience) throws(StorageError) in
            for _ in 0..<(OpenFile.hasByteLocks ? 4 : 0) {
                var start: Int64 = 0
                try patience.wait { () throws(StorageError) in
                    start = cp_monotonic_time()
                    _ = try file.lockByte(RingFile.lookingByte, .shared)
                    if !file.isByteLocked(RingFile.appendingByte) { return true }
                    file.unlockByte(RingFile.lookingByte)
                    return false
                }
                let seen = Result { () throws(StorageError) in try body() }
                let nanoseconds = cp_monotonic_time() - start
                file.unlockByte(RingFile.lookingByte)
                // Else somebody may have waited long enough, and appended.
                if nanoseconds < RingFile.lookNanoseconds { return try seen.get() }
            }
            // It takes longer, as a message of gigabytes does: now it is waited for.
            try patience.wait { () throws(StorageError) in
                if OpenFile.hasByteLocks, file.isByteLocked(RingFile.appendingByte) { return false }
                return try file.lock(.shared, wait: false)
            }
            defer { file.unlock() }
            return try body()
        }
    }

    /// Lets no other thread use this object meanwhile.
    private func inTurn<Value: Sendable>(
        _ body: (Patience) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        // A forked process and the one that it is from have one lock between them, which lets both in.
        guard cp_fork_count() == forks else { throw .closed(name: path) }
        return try turn.withLock { (_) throws(StorageError) in
            try body(Patience(RingFile.patienceNanoseconds, path))
        }
    }

    /// Waits for others, until one moment for all that it waits for. Sendable value type.
    private struct Patience: Sendable {
        let end: Int64
        let path: String

        init(_ nanoseconds: Int64, _ path: String) {
            end = cp_monotonic_time() + nanoseconds
            self.path = path
        }

        func wait(until isDone: () throws(StorageError) -> Bool) throws(StorageError) {
            var pause: Int64 = 20_000
            while try isDone() == false {
                guard cp_monotonic_time() < end else {
                    throw .ringFileInUse(
                        path: path,
                        reason: "another has had it for 10 s; look whether one that uses it was stopped")
                }
                cp_sleep(pause)
                pause = min(2 * pause, 2_000_000)
            }
        }
    }
}
