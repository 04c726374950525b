/// Reads one segment of a log from its file alone, without mapping it. OnDiskFormat, "Checking". Not thread-safe.
final class SegmentFileReader: SegmentReader {
    let segment: UInt32
    let header: Result<SegmentHeader, StorageError>
    /// Size of the part of the file that can be the segment; the rest isn't read.
    let bytes: Int
    let lengthProblem: String?
    private let file: FileDescriptor
    private let seed: UInt32
    private var search: FrameSearch
    private var wasReadAgain = false

    /// `nil` if the file is absent; the segment may have been reclaimed.
    init?(_ segment: UInt32, in folder: FileDescriptor, archive identity: [UInt8]) throws(StorageError) {
        do throws(StorageError) {
            file = try folder.file(named: SegmentHeader.fileName(segment), writable: false)
        } catch {
            guard case .system(_, _, SystemCode.missing) = error else { throw error }
            return nil
        }
        self.segment = segment
        let length = try file.status().bytes
        bytes = try SegmentLayout.usableBytes(file, length)
        lengthProblem = SegmentLayout.lengthProblem(file.path, bytes: length, usable: bytes)
        let first = try file.read(atMost: SegmentHeader.bytes)
        do throws(StorageError) {
            header = .success(try SegmentHeader.decode(first, path: file.path))
        } catch {
            header = .failure(error)
        }
        seed = SegmentHeader.seed(archive: identity, segment: segment)
        search = FrameSearch(file, bytes: bytes, segmentSeed: seed)
    }

    func frame(at offset: Int) throws(StorageError) -> Frame? {
        guard let frame = try search.frame(at: offset) else { return nil }
        wasReadAgain = false
        return frame
    }

    func next(after offset: Int) throws(StorageError) -> Int? { try search.next(after: offset) }

    func isBlank(from offset: Int) throws(StorageError) -> Bool { try search.isBlank(from: offset) }

    func isZero(_ range: Range<Int>) throws(StorageError) -> Bool { try search.isZero(range) }

    func readAgain() throws(StorageError) -> Bool {
        guard !wasReadAgain else { return false }
        let bytes = try SegmentLayout.usableBytes(file, file.status().bytes)
        search = FrameSearch(file, bytes: bytes, segmentSeed: seed)
        wasReadAgain = true
        return true
    }
}
