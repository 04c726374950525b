/// Reads the messages of a ring file one behind the other, in the order in which they were written, through a buffer of
/// its own; a message's bytes are asked for only as far as the file has them. For one thread, under the file's lock.
struct RingFileReader {
    private let file: OpenFile
    private let fileBytes: Int
    /// The stretches that hold messages: behind the last byte of one comes the first of the next.
    private var stretches: [Range<Int>]
    private var buffer: [UInt8] = []
    private var bufferStart = 0

    /// What a refill reads. Whoever makes room for one message looks at a few bytes; whoever reads all, soon at the most.
    private var bufferBytes = 1 << 9
    private static let mostBufferBytes = 1 << 16

    /// Where the next message begins; `nil` behind the last.
    private(set) var position: Int?

    init(_ file: OpenFile, _ header: RingFileHeader, fileBytes: Int) {
        self.file = file
        self.fileBytes = fileBytes
        let (oldest, end) = (Int(header.oldest), Int(header.end))
        stretches =
            header.isWrapped ? [oldest..<fileBytes, RingFileHeader.bytes..<end] : [oldest..<end]
        stretches.removeAll(where: \.isEmpty)
        position = stretches.first?.lowerBound
    }

    /// The length of the message at ``position``, without the four bytes that say so; `nil` behind the last.
    /// - Throws: `corrupted` where that can't be a message.
    mutating func peekLength() throws(StorageError) -> Int? {
        guard let position, let stretch = stretches.first else { return nil }
        let left = stretch.upperBound - position
        guard left >= RingFileHeader.lengthBytes else {
            throw .corrupted(path: file.path, offset: position, reason: "\(left) bytes are no message")
        }
        let length = try take(RingFileHeader.lengthBytes, at: position).reduce(0) { $0 << 8 | Int($1) }
        guard length > 0, length <= RingFile.maximumMessageBytes, length <= left - RingFileHeader.lengthBytes
        else {
            throw .corrupted(
                path: file.path, offset: position,
                reason: "a message of \(length) bytes, where \(left - RingFileHeader.lengthBytes) are left")
        }
        return length
    }

    /// Passes over the message at ``position``.
    mutating func skip() throws(StorageError) {
        guard let length = try peekLength(), let position else { return }
        advance(to: position + RingFileHeader.lengthBytes + length)
    }

    /// The message at ``position``; `nil` behind the last.
    mutating func next() throws(StorageError) -> [UInt8]? {
        guard let length = try peekLength(), let position else { return nil }
        let message = try take(length, at: position + RingFileHeader.lengthBytes)
        advance(to: position + RingFileHeader.lengthBytes + length)
        return Array(message)
    }

    /// Goes to the message that begins at `place`, if messages are where that is; only its bytes tell whether one begins there.
    mutating func seek(to place: Int) -> Bool {
        guard let index = stretches.firstIndex(where: { $0.contains(place) }) else { return false }
        stretches.removeFirst(index)
        position = place
        return true
    }

    private mutating func advance(to next: Int) {
        position = next
        guard let stretch = stretches.first, next >= stretch.upperBound else { return }
        stretches.removeFirst()
        position = stretches.first?.lowerBound
    }

    /// Bytes that are in the file.
    private mutating func take(_ count: Int, at offset: Int) throws(StorageError) -> ArraySlice<UInt8> {
        if offset >= bufferStart, offset + count <= bufferStart + buffer.count {
            return buffer[offset - bufferStart..<offset - bufferStart + count]
        }
        let bytes = try file.read(
            atMost: min(max(count, bufferBytes), max(0, fileBytes - offset)), from: offset)
        guard bytes.count >= count else {
            throw .corrupted(
                path: file.path, offset: offset + bytes.count,
                reason: "the file ends inside a message; somebody has cut it off")
        }
        guard count <= bufferBytes else { return bytes[..<count] }
        (buffer, bufferStart) = (bytes, offset)
        bufferBytes = min(2 * bufferBytes, RingFileReader.mostBufferBytes)
        return buffer[..<count]
    }
}
