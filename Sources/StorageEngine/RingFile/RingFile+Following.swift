/// What a ring file was made with: whoever appends must have the same. Sendable value type.
public struct RingFileSettings: Sendable, Hashable {
    /// Most bytes that the file may have, its header of 64 included.
    public let maximumBytes: UInt64
    public let overwritesOldMessages: Bool
}

/// How far somebody has read a ring file: behind which message. Sendable value type.
///
/// Messages have no numbers in the file, so it remembers where the message began, its length, and a checksum of its first 16
/// KiB. Where another of the same has come to stand at the same place since, which takes a whole turn of the ring, it is
/// taken for that.
public struct RingFileCursor: Sendable, Hashable {
    /// `nil`: before the first.
    fileprivate var last: RingFileMark?

    /// Before the oldest message.
    public init() {}
}

/// What was appended to a ring file since the last look. Sendable value type.
public struct RingFileNews: Sendable {
    /// The oldest first.
    public var messages: [[UInt8]] = []
    public var next: RingFileCursor
    /// Whether the message that was read last is gone, and so maybe others that nobody has read; how many, the file
    /// doesn't tell.
    public var someMayBeLost = false
    /// What is wrong with the file behind these messages; asking for what comes next will throw it.
    public var damage: StorageError?
}

/// What is in a ring file at one moment. Sendable value type.
public struct RingFileOutline: Sendable, Hashable {
    /// `nil`: the file is empty, so nobody has chosen.
    public var settings: RingFileSettings?
    public var messages = 0
    /// Sum of the messages' sizes.
    public var messageBytes: UInt64 = 0
    public var fileBytes = 0
}

/// Looking at a file that others append to. Nothing of it changes.
extension RingFile {
    /// What the file at `path` was made with; `nil` if it is empty. Costs two reads.
    /// - Throws: `corrupted` for what is no regular file; `damagedRingFile`, `unsupportedVersion`, `permissionDenied`,
    ///   `ringFileInUse`, `system`.
    public static func settings(ofFileAt path: String) throws(StorageError) -> RingFileSettings? {
        let ring = try RingFile(path: path, maximumBytes: 0, overwritesOldMessages: false, mode: .readOnly)
        return try ring.looked { () throws(StorageError) in
            try ring.readHeader()?.header.settings
        }
    }

    /// Before the last `count` messages, or before all if there are no more. Of a damaged file, before the last that can be
    /// read. Costs reading the file, and 24 bytes of memory a message for `count` of them.
    public func cursor(beforeLast count: Int) throws(StorageError) -> RingFileCursor {
        var cursor = RingFileCursor()
        var reader = try RingFileReader(self)
        // Before which there are none that anybody could read.
        guard count < reader.fileBytes else { return cursor }
        // The last of them, and the one before, in a ring of their own.
        let most = max(0, count) + 1
        var marks: [RingFileMark] = []
        var losses = 0
        var passed = 0
        do throws(StorageError) {
            while reader.position != nil {
                try reader.skip()
                if reader.losses != losses { (losses, passed, marks) = (reader.losses, 0, []) }
                guard reader.passed > passed, let last = reader.last else { continue }
                if marks.count < most { marks.append(last) } else { marks[passed % most] = last }
                passed += 1
            }
        } catch {
            // Whoever reads on from there is told.
            guard case .damagedRingFile = error else { throw error }
        }
        if passed >= most { cursor.last = marks[passed % most] }
        return cursor
    }

    /// The messages behind `cursor`, as many as asked for: at least one if there is any, and then those that `mostBytes` leave
    /// room for. Where the cursor's message is gone, it begins with the oldest. Costs reading these and one more.
    /// - Throws: `damagedRingFile` where that can't be read which comes next; else as ``messages()``.
    public func news(
        after cursor: RingFileCursor, most: Int = .max, mostBytes: Int = .max
    ) throws(StorageError) -> RingFileNews {
        var news = RingFileNews(next: cursor)
        var reader = try RingFileReader(self, behind: cursor.last)
        var left = mostBytes
        do throws(StorageError) {
            while news.messages.count < most, let length = try reader.peekLength() {
                guard news.messages.isEmpty || length <= left, let message = try reader.next() else { break }
                left -= min(left, message.count)
                news.messages.append(message)
            }
        } catch {
            guard case .damagedRingFile = error, !news.messages.isEmpty else { throw error }
            news.damage = error
        }
        news.next.last = reader.last
        news.someMayBeLost = reader.losses > 0
        return news
    }

    /// How much is in the file. Costs reading it, up to 16 KiB of each message.
    /// - Throws: as ``messages()``.
    public func outline() throws(StorageError) -> RingFileOutline {
        var outline = RingFileOutline()
        var losses = 0
        var reader = try RingFileReader(self)
        while reader.position != nil {
            try reader.skip()
            if reader.losses != losses {
                // What was counted before is no longer there.
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

extension RingFileHeader {
    fileprivate var settings: RingFileSettings {
        RingFileSettings(maximumBytes: maximumBytes, overwritesOldMessages: overwritesOldMessages)
    }
}
