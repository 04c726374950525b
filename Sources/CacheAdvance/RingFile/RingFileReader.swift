import CPlatform

/// Identifies a message by its first bytes, so that a position can be found again at little cost.
struct RingFileMark: Sendable, Hashable {
    static let mostBytes = 16 << 10

    var place: Int
    var length: Int
    /// Checksum of at most the first ``mostBytes`` bytes of the message.
    var checksum: UInt32

    init(place: Int, length: Int, beginning: ArraySlice<UInt8>) {
        self.place = place
        self.length = length
        checksum = beginning.prefix(RingFileMark.mostBytes).withUnsafeBytes {
            ~cp_crc32c(~0, $0.baseAddress, $0.count)
        }
    }

    var end: Int { place + RingFileHeader.lengthBytes + length }
}

/// Reads the messages of a ring file in order through a buffer, never more bytes than the file has. For one thread. A reader
/// without the lock has exclusive use only while the buffer is filled, and then checks that its last message still exists. If
/// not, it continues with the oldest (``losses``). Ends where messages ended at its beginning or last loss.
struct RingFileReader {
    private let ring: RingFile
    /// Whether the file is locked for the whole reading.
    private let isAlone: Bool
    private(set) var header: RingFileHeader?
    private(set) var fileBytes = 0
    private var stretches: [Range<Int>] = []
    private var buffer: [UInt8] = []
    private var bufferStart = 0
    private var budget = Int.max

    /// Size of the next refill, which doubles from the few bytes that one message needs to the maximum.
    private var bufferBytes = 1 << 9
    private static let mostBufferBytes = 1 << 18
    /// Largest size of a message that may be a hole in the file. A larger message must have data.
    private static let mostHoleBytes = 64 << 20

    /// After this number of losses, the reader no longer moves its end to the file's present end.
    private static let mostBeginnings = 8

    /// Where the next message begins; `nil` after the last.
    private(set) var position: Int?
    /// The message that was read last; `nil` for a reading under the lock.
    private(set) var last: RingFileMark?
    /// Number of messages read since the beginning or the last loss.
    private(set) var passed = 0
    /// How often the last read message was found to be dropped.
    private(set) var losses = 0

    init(lockedRing ring: RingFile, _ header: RingFileHeader, fileBytes: Int) {
        self.ring = ring
        isAlone = true
        self.header = header
        self.fileBytes = fileBytes
        stretches = header.stretches(fileBytes: fileBytes)
        position = stretches.first?.lowerBound
    }

    init(_ ring: RingFile, behind last: RingFileMark? = nil) throws(RingFileError) {
        self.ring = ring
        isAlone = false
        self.last = last
        _ = try refill(0)
        budget = bytesLeft
    }

    private var bytesLeft: Int {
        stretches.reduce(0) { $0 + $1.count } - (position ?? 0) + (stretches.first?.lowerBound ?? 0)
    }

    /// Length of the message at ``position``, without its length field; `nil` after the last. Throws `damaged`.
    mutating func peekLength() throws(RingFileError) -> Int? {
        while let place = position, let stretch = stretches.first {
            let left = stretch.upperBound - place - RingFileHeader.lengthBytes
            guard !stretch.isEmpty else {
                throw damage(at: place, "the file ends before its newest message does")
            }
            guard left >= 0 else {
                throw damage(
                    at: place, "\(left + RingFileHeader.lengthBytes) bytes are too few for a message")
            }
            guard let bytes = try take(RingFileHeader.lengthBytes) else { continue }
            let length = RingFileReader.length(bytes)
            guard length > 0, length <= RingFile.maximumMessageBytes, length <= left else {
                throw damage(at: place, "a message of \(length) bytes, but only \(left) bytes remain")
            }
            if length > RingFileReader.mostHoleBytes, hasHole(at: place, length) {
                // A hole isn't damage if the message was dropped during the read and the file was truncated.
                if !isAlone {
                    guard try refill(RingFileHeader.lengthBytes), position == place,
                        RingFileReader.length(buffer.prefix(RingFileHeader.lengthBytes)) == length,
                        hasHole(at: place, length)
                    else { continue }
                }
                throw damage(
                    at: place, "a message of \(length) bytes, of which the file has less than a quarter")
            }
            return length
        }
        return nil
    }

    private static func length(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private func hasHole(at place: Int, _ length: Int) -> Bool {
        ring.file.dataBytes(from: place, upTo: place + length) < length / 4
    }

    mutating func skip() throws(RingFileError) {
        while let length = try peekLength() {
            guard !isAlone else { return pass(length, beginning: []) }
            let count = RingFileHeader.lengthBytes + min(length, RingFileMark.mostBytes)
            guard let bytes = try take(count, ofMessageOf: length) else { continue }
            return pass(length, beginning: bytes.dropFirst(RingFileHeader.lengthBytes))
        }
    }

    mutating func next() throws(RingFileError) -> [UInt8]? {
        while let length = try peekLength() {
            guard let bytes = try take(RingFileHeader.lengthBytes + length, ofMessageOf: length) else {
                continue
            }
            let message = bytes.dropFirst(RingFileHeader.lengthBytes)
            pass(length, beginning: message)
            return Array(message)
        }
        return nil
    }

    private func damage(at place: Int, _ reason: String) -> RingFileError {
        let before = isAlone ? "" : "; \(passed) messages before it were read"
        return .damaged(path: ring.path, offset: place, reason: reason + before)
    }

    private mutating func pass(_ length: Int, beginning: ArraySlice<UInt8>) {
        guard let place = position, let stretch = stretches.first else { return }
        let next = place + RingFileHeader.lengthBytes + length
        if !isAlone { last = RingFileMark(place: place, length: length, beginning: beginning) }
        passed += 1
        budget -= next - place
        position = next
        guard next >= stretch.upperBound || budget <= 0 else { return }
        stretches.removeFirst()
        // Keeps the empty range: it reports that the file is truncated.
        if budget <= 0 { stretches.removeAll { !$0.isEmpty } }
        position = stretches.first?.lowerBound
    }

    /// `count` bytes from ``position`` on; `nil` if the buffer was refilled while others may append: the position may have
    /// changed, so the caller starts again. `length`: the known length of the message.
    private mutating func take(_ count: Int, ofMessageOf length: Int? = nil) throws(RingFileError)
        -> ArraySlice<UInt8>?
    {
        guard let place = position else { return nil }
        if place < bufferStart || place + count > bufferStart + buffer.count {
            guard try refill(count), position == place else { return nil }
            guard buffer.count >= count else {
                let isSame = length.map {
                    $0 == RingFileReader.length(buffer.prefix(RingFileHeader.lengthBytes))
                }
                guard let end = stretches.first?.upperBound, place + count <= end, isSame != false else {
                    return nil
                }
                throw damage(at: place + buffer.count, "the file ends inside a message; it was truncated")
            }
            guard isAlone else { return nil }
        }
        return buffer[place - bufferStart..<place - bufferStart + count]
    }

    /// Fills the buffer from ``position`` on with at least `count` bytes; returns `false` if there was a loss.
    private mutating func refill(_ count: Int) throws(RingFileError) -> Bool {
        let wanted = max(count, bufferBytes)
        bufferBytes = min(2 * bufferBytes, RingFileReader.mostBufferBytes)
        if isAlone {
            guard let position, let stretch = stretches.first else { return true }
            bufferStart = position
            buffer = try ring.file.read(atMost: min(wanted, stretch.upperBound - position), from: position)
            return true
        }
        let last = last
        let ring = ring
        let view = try ring.reading { () throws(RingFileError) in try View(ring, behind: last, wanted) }
        (header, fileBytes) = (view.header, view.fileBytes)
        (stretches, position) = (view.stretches, view.position)
        (buffer, bufferStart) = (view.bytes, view.position ?? 0)
        guard view.isLost else { return true }
        losses += 1
        passed = 0
        self.last = nil
        if losses <= RingFileReader.mostBeginnings { budget = bytesLeft }
        return false
    }

    private struct View: Sendable {
        var header: RingFileHeader?
        var fileBytes = 0
        var stretches: [Range<Int>] = []
        var position: Int?
        var bytes: [UInt8] = []
        var isLost = false

        init(_ ring: RingFile, behind last: RingFileMark?, _ wanted: Int) throws(RingFileError) {
            isLost = last != nil
            guard let (header, fileBytes) = try ring.readHeader() else { return }
            (self.header, self.fileBytes) = (header, fileBytes)
            stretches = header.stretches(fileBytes: fileBytes)
            position = stretches.first?.lowerBound
            if let last, let index = stretches.firstIndex(where: { $0.contains(last.place) }),
                last.end <= stretches[index].upperBound, try last.isThere(in: ring.file)
            {
                isLost = false
                stretches.removeFirst(last.end < stretches[index].upperBound ? index : index + 1)
                position = stretches.first.map { $0.contains(last.end) ? last.end : $0.lowerBound }
            }
            if let position, let stretch = stretches.first {
                bytes = try ring.file.read(atMost: min(wanted, stretch.upperBound - position), from: position)
            }
        }
    }
}

extension RingFileMark {
    fileprivate func isThere(in file: OpenFile) throws(RingFileError) -> Bool {
        let count = RingFileHeader.lengthBytes + min(length, RingFileMark.mostBytes)
        let bytes = try file.read(atMost: count, from: place)
        guard bytes.count == count else { return false }
        let found = bytes[..<RingFileHeader.lengthBytes].reduce(0) { $0 << 8 | Int($1) }
        return RingFileMark(
            place: place, length: found, beginning: bytes[RingFileHeader.lengthBytes...]) == self
    }
}
