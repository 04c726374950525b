/// What a ring file was made with: whoever appends must have the same. Sendable value type.
public struct RingFileSettings: Sendable, Hashable {
    /// Most bytes that the file may have, its header of 64 included.
    public let maximumBytes: UInt64
    public let overwritesOldMessages: Bool
}

/// How far somebody has read a ring file: behind which message. Sendable value type.
///
/// Messages have no numbers in the file, so it remembers where the message began and a checksum of it. Where another of the
/// same bytes has come to stand at the same place since, which takes a whole turn of the ring, it is taken for that.
public struct RingFileCursor: Sendable, Hashable {
    /// `nil`: before the first.
    fileprivate var last: Mark?

    fileprivate struct Mark: Sendable, Hashable {
        var place: Int
        var checksum: UInt32

        init(_ message: [UInt8], at place: Int) {
            self.place = place
            checksum = Checksum.crc32c(message)
        }
    }

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
    /// - Throws: `corrupted` also for what is no regular file; `unsupportedVersion`, `permissionDenied`, `busy`, `system`.
    public static func settings(ofFileAt path: String) throws(StorageError) -> RingFileSettings? {
        let ring = try RingFile(path: path, maximumBytes: 0, overwritesOldMessages: false, mode: .readOnly)
        return try ring.locked(.shared) { () throws(StorageError) in
            try ring.readHeader()?.header.settings
        }
    }

    /// Before the last `count` messages, or before all if there are no more. Costs reading the file.
    public func cursor(beforeLast count: Int) throws(StorageError) -> RingFileCursor {
        try locked(.shared) { () throws(StorageError) in
            var cursor = RingFileCursor()
            guard let (header, fileBytes) = try readHeader() else { return cursor }
            var behind = 0
            var reader = RingFileReader(file, header, fileBytes: fileBytes)
            while reader.position != nil {
                try reader.skip()
                behind += 1
            }
            guard behind > count else { return cursor }
            reader = RingFileReader(file, header, fileBytes: fileBytes)
            for _ in 0..<behind - max(0, count) - 1 { try reader.skip() }
            if let place = reader.position, let message = try reader.next() {
                cursor.last = RingFileCursor.Mark(message, at: place)
            }
            return cursor
        }
    }

    /// The messages behind `cursor`, as many as asked for: at least one if there is any, and then those that `mostBytes` leave
    /// room for. Where the cursor's message is gone, it begins with the oldest. Costs reading these and one more.
    public func news(
        after cursor: RingFileCursor, most: Int = .max, mostBytes: Int = .max
    ) throws(StorageError) -> RingFileNews {
        try locked(.shared) { () throws(StorageError) in
            var news = RingFileNews(next: cursor)
            guard let (header, fileBytes) = try readHeader() else {
                return RingFileNews(next: RingFileCursor(), someMayBeLost: cursor.last != nil)
            }
            var reader = RingFileReader(file, header, fileBytes: fileBytes)
            if let last = cursor.last {
                let message = reader.seek(to: last.place) ? try? reader.next() : nil
                if message.map({ RingFileCursor.Mark($0, at: last.place) }) != last {
                    news.someMayBeLost = true
                    news.next = RingFileCursor()
                    reader = RingFileReader(file, header, fileBytes: fileBytes)
                }
            }
            var left = mostBytes
            while news.messages.count < most, let place = reader.position,
                let length = try reader.peekLength()
            {
                guard news.messages.isEmpty || length <= left, let message = try reader.next() else { break }
                left -= min(left, length)
                news.next.last = RingFileCursor.Mark(message, at: place)
                news.messages.append(message)
            }
            return news
        }
    }

    /// How much is in the file. Costs reading it.
    public func outline() throws(StorageError) -> RingFileOutline {
        try locked(.shared) { () throws(StorageError) in
            var outline = RingFileOutline()
            guard let (header, fileBytes) = try readHeader() else { return outline }
            outline.settings = header.settings
            outline.fileBytes = fileBytes
            var reader = RingFileReader(file, header, fileBytes: fileBytes)
            while let length = try reader.peekLength() {
                outline.messages += 1
                outline.messageBytes += UInt64(length)
                try reader.skip()
            }
            return outline
        }
    }
}

extension RingFileHeader {
    fileprivate var settings: RingFileSettings {
        RingFileSettings(maximumBytes: maximumBytes, overwritesOldMessages: overwritesOldMessages)
    }
}
