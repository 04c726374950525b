/// The header: the first 64 bytes of a ring file. Layout: RingFileFormat.
struct RingFileHeader: Sendable, Hashable {
    static let bytes = 64
    static let version: UInt8 = 1
    static let lengthBytes = 4
    static let placesOffset = 10

    let settings: RingFileSettings
    /// Where the oldest message begins; equal to `end` if the ring is empty.
    var oldest: UInt64 = UInt64(RingFileHeader.bytes)
    var end: UInt64 = UInt64(RingFileHeader.bytes)

    var isEmpty: Bool { oldest == end }
    var isWrapped: Bool { oldest > end }

    /// Whether the file ends before its newest message: truncated, or its length didn't reach the medium.
    func isCutOff(fileBytes: Int) -> Bool { end > UInt64(fileBytes) }

    /// The ranges of messages in a file of `fileBytes`, in order. For a truncated file the last is empty.
    func stretches(fileBytes: Int) -> [Range<Int>] {
        guard !isCutOff(fileBytes: fileBytes) else {
            return [Int(oldest)..<fileBytes].filter { !$0.isEmpty } + [fileBytes..<fileBytes]
        }
        let (oldest, end) = (Int(oldest), Int(end))
        let stretches = isWrapped ? [oldest..<fileBytes, RingFileHeader.bytes..<end] : [oldest..<end]
        return stretches.filter { !$0.isEmpty }
    }

    var encoded: [UInt8] {
        var bytes = [RingFileHeader.version]
        bytes += RingFileHeader.bigEndian(settings.maximumBytes)
        bytes.append(settings.overwritesOldMessages ? 1 : 0)
        bytes += encodedPlaces
        return bytes + [UInt8](repeating: 0, count: RingFileHeader.bytes - bytes.count)
    }

    /// Both offsets as 16 bytes, so that one write changes both.
    var encodedPlaces: [UInt8] { RingFileHeader.bigEndian(oldest) + RingFileHeader.bigEndian(end) }

    init(settings: RingFileSettings) { self.settings = settings }

    /// - Throws: `unsupportedVersion`; `damaged` if the oldest message begins outside the file.
    init(_ bytes: [UInt8], fileBytes: Int, path: String) throws(RingFileError) {
        guard bytes.count >= RingFileHeader.bytes else {
            throw .damaged(
                path: path, offset: bytes.count, reason: "a ring file begins with 64 bytes of header")
        }
        guard bytes[0] == RingFileHeader.version else {
            throw .unsupportedVersion(path: path, found: bytes[0])
        }
        guard bytes[9] <= 1 else {
            throw .damaged(
                path: path, offset: 9, reason: "the overwriting flag is \(bytes[9]), not 0 or 1")
        }
        settings = RingFileSettings(
            maximumBytes: RingFileHeader.word(bytes, at: 1), overwritesOldMessages: bytes[9] == 1)
        oldest = RingFileHeader.word(bytes, at: 10)
        end = RingFileHeader.word(bytes, at: 18)
        let places = UInt64(RingFileHeader.bytes)...UInt64(max(RingFileHeader.bytes, fileBytes))
        guard places.contains(oldest) else {
            throw .damaged(path: path, offset: 10, reason: "the oldest message is not in the file")
        }
        guard end >= places.lowerBound else {
            throw .damaged(path: path, offset: 18, reason: "the newest message ends in the header")
        }
    }

    private static func bigEndian(_ value: UInt64) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    private static func word(_ bytes: [UInt8], at offset: Int) -> UInt64 {
        bytes[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
