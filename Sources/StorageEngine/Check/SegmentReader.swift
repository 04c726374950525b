/// Reads one segment of a log from its file alone, as OnDiskFormat, "Reading the log", defines. For one thread.
struct SegmentReader {
    let number: UInt32
    let header: Result<SegmentHeader, StorageError>
    /// Size of the part of the file that can be the segment; the rest isn't read.
    let bytes: Int
    let lengthProblem: String?
    private let file: FileDescriptor
    private let seed: UInt32
    private var search: FrameSearch

    enum Item {
        case frame(LoggedFrame)
        case damage(Range<Int>, FrameSearch)
    }

    /// `nil` if the file is absent; the segment may have been reclaimed.
    init?(_ number: UInt32, in folder: FileDescriptor, archive identity: [UInt8]) throws(StorageError) {
        do throws(StorageError) {
            file = try folder.file(named: SegmentHeader.fileName(number), writable: false)
        } catch {
            guard case .system(_, _, SystemCode.missing) = error else { throw error }
            return nil
        }
        self.number = number
        let length = try file.status().bytes
        bytes = try SegmentLayout.usableBytes(file, length)
        lengthProblem = SegmentLayout.lengthProblem(file.path, bytes: length, usable: bytes)
        let first = try file.read(atMost: SegmentHeader.bytes)
        do throws(StorageError) {
            header = .success(try SegmentHeader.decode(first, path: file.path))
        } catch {
            header = .failure(error)
        }
        seed = SegmentHeader.seed(archive: identity, segment: number)
        search = FrameSearch(file, bytes: bytes, segmentSeed: seed)
    }

    /// Calls `body` for each item. Returns the end of the last intact frame, and whether only zeros follow it.
    mutating func read(_ body: (Item) throws(StorageError) -> Void) throws(StorageError) -> (
        end: Int, isBlankBehind: Bool
    ) {
        var offset = SegmentHeader.bytes
        var isFresh = false
        while true {
            if let header = try search.frame(at: offset) {
                try body(.frame(try frame(header, at: offset)))
                offset += header.bytes
                isFresh = false
                continue
            }
            let isBlank = try search.isBlank(from: offset)
            if !isBlank, let next = try search.next(after: offset) {
                try body(.damage(offset..<next, search))
                offset = next
            } else if isFresh {
                return (offset, isBlank)
            } else {
                // Another process may have written frames after the end since it was read.
                let bytes = try SegmentLayout.usableBytes(file, file.status().bytes)
                search = FrameSearch(file, bytes: bytes, segmentSeed: seed)
                isFresh = true
            }
        }
    }

    private func frame(_ header: FrameHeader, at offset: Int) throws(StorageError) -> LoggedFrame {
        let parts = offset + Frame.headerBytes
        let key = parts + header.extensionBytes
        let extensionParts = try search.copy(parts..<key)
        let values = key + header.keyBytes
        let value =
            header.kind == .batch
            ? try search.copy(values..<values + min(header.valueBytes, BatchHeader.bytes)) : []
        return LoggedFrame(
            header: header, location: Location(segment: number, offset: offset),
            parts: extensionParts, key: try search.copy(key..<key + header.keyBytes),
            role: BatchRole(of: header, parts: extensionParts, value: value))
    }

    /// Bytes beyond the end of the file count as zero.
    func isZero(_ range: Range<Int>) throws(StorageError) -> Bool {
        try search.isZero(range)
    }
}

struct LoggedFrame {
    let header: FrameHeader
    let location: Location
    let parts: [UInt8]
    let key: [UInt8]
    let role: BatchRole

    var removed: [Location] {
        parts.isEmpty ? [] : parts.withUnsafeBytes { FrameExtension.evictions(in: $0) }
    }

    var owner: [UInt8] {
        parts.isEmpty
            ? [] : parts.withUnsafeBytes { FrameExtension.part(.owner, in: $0).map(Array.init) ?? [] }
    }

    /// Whether a `restore` frame leaves overwritten entries out (all but those of an old format do).
    var keepsOut: Bool { parts.withUnsafeBytes { RemovalNote(in: $0)?.keepsOut ?? true } }
    var group: UInt32 { parts.isEmpty ? 0 : parts.withUnsafeBytes { RemovalNote(in: $0)?.group ?? 0 } }
}
