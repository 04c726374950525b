/// The settings that a ring file was created with; every writer must use the same.
public struct RingFileSettings: Sendable, Hashable {
    /// Largest size of the file in bytes, including its header of 64.
    public let maximumBytes: UInt64
    /// Whether a full file drops the oldest messages for new ones; otherwise appending fails.
    public let overwritesOldMessages: Bool
}

/// A position in a ring file: after the message that was read last.
///
/// Messages have no numbers in the file, so the cursor stores where the last message began, its length, and a checksum of its
/// first 16 KiB. If the ring was overwritten once and an equal message is at the same place, the cursor takes it for the old one.
public struct RingFileCursor: Sendable, Hashable {
    /// The message before the position; `nil`: before the first message.
    fileprivate var last: RingFileMark?

    /// The position before the oldest message.
    public init() {}
}

/// New messages of a ring file.
public struct RingFileNews: Sendable {
    /// The messages, oldest first.
    public var messages: [[UInt8]] = []
    /// The position after these messages.
    public var next: RingFileCursor
    /// Whether the message that was read last was dropped, so that an unknown number after it may have been missed.
    public var someMayBeLost = false
    /// Damage after these messages; a read from ``next`` throws it.
    public var damage: RingFileError?
}

/// A summary of a ring file at one moment.
public struct RingFileOutline: Sendable, Hashable {
    /// The file's settings; `nil` if it is empty and has none yet.
    public var settings: RingFileSettings?
    /// Number of messages.
    public var messages = 0
    /// Sum of the messages' sizes in bytes.
    public var messageBytes: UInt64 = 0
    /// Size of the file in bytes.
    public var fileBytes = 0
}

extension RingFile {
    package var isReplaced: Bool { file.isReplaced }

    /// The settings of the file at `path`; `nil` if it is empty. Costs two reads. Throws `notAFile`, `damaged`,
    /// `unsupportedVersion`, `inUse`, `system`.
    public static func settings(ofFileAt path: String) throws(RingFileError) -> RingFileSettings? {
        let ring = try RingFile(path: path, maximumBytes: 0, overwritesOldMessages: false, isReadOnly: true)
        return try ring.reading { () throws(RingFileError) in try ring.readHeader()?.header.settings }
    }

    /// The position before the last `count` messages, or before all if there are fewer. In a damaged file, before the last readable
    /// ones. Costs reading the file, and 24 bytes of memory for each message. Throws like ``messages()``, except for `damaged`.
    public func cursor(beforeLast count: Int) throws(RingFileError) -> RingFileCursor {
        try start(ofLast: count).cursor
    }

    /// Like ``cursor(beforeLast:)``, but of the messages up to `end`, if given. Also returns the number of these messages in the
    /// file; 0 if that before `end` was dropped.
    package func start(
        ofLast count: Int, upTo end: RingFileCursor? = nil
    ) throws(RingFileError) -> (cursor: RingFileCursor, messages: Int) {
        var cursor = RingFileCursor()
        if let end, end.last == nil { return (cursor, 0) }
        var reader = try RingFileReader(self)
        // A ring buffer of the last `count` messages and the one before them. The file holds fewer messages than bytes.
        let most = max(0, min(count, reader.fileBytes)) + 1
        var marks: [RingFileMark] = []
        var losses = 0
        var passed = 0
        do throws(RingFileError) {
            while reader.position != nil {
                try reader.skip()
                if reader.losses != losses { (losses, passed, marks) = (reader.losses, 0, []) }
                guard reader.passed > passed, let last = reader.last else { continue }
                if marks.count < most { marks.append(last) } else { marks[passed % most] = last }
                passed += 1
                if last == end?.last { break }
            }
        } catch {
            // The next read from the cursor reports the damage.
            guard case .damaged = error else { throw error }
        }
        if let end, passed == 0 || marks[(passed - 1) % most] != end.last { return (cursor, 0) }
        if passed >= most { cursor.last = marks[passed % most] }
        return (cursor, passed)
    }

    /// The messages after `cursor`: at least one if present, then further ones up to `most` in number and `mostBytes`
    /// in size. If the cursor's message was dropped, begins with the oldest. Costs reading these messages and one more.
    /// Throws `damaged` if the next message can't be read; otherwise like ``messages()``.
    public func news(
        after cursor: RingFileCursor, most: Int = .max, mostBytes: Int = .max
    ) throws(RingFileError) -> RingFileNews {
        var news = RingFileNews(next: cursor)
        var reader = try RingFileReader(self, behind: cursor.last)
        var left = mostBytes
        do throws(RingFileError) {
            while news.messages.count < most, let length = try reader.peekLength() {
                guard news.messages.isEmpty || length <= left, let message = try reader.next() else { break }
                left -= min(left, message.count)
                news.messages.append(message)
            }
        } catch {
            guard case .damaged = error, !news.messages.isEmpty else { throw error }
            news.damage = error
        }
        news.next.last = reader.last
        news.someMayBeLost = reader.losses > 0
        return news
    }

    /// Summarizes the file. Costs reading it, up to 16 KiB of each message.
    public func outline() throws(RingFileError) -> RingFileOutline {
        var outline = RingFileOutline()
        var losses = 0
        var reader = try RingFileReader(self)
        while reader.position != nil {
            try reader.skip()
            if reader.losses != losses {
                // Messages were dropped: those counted so far are no longer in the file.
                losses = reader.losses
                outline = RingFileOutline()
            }
            guard reader.passed > outline.messages, let last = reader.last else { continue }
            outline.messages = reader.passed
            outline.messageBytes += UInt64(last.length)
        }
        outline.settings = reader.header?.settings
        outline.fileBytes = reader.fileBytes
        return outline
    }
}
