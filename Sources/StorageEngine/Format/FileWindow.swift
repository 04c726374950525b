import SystemC

/// A part of a file that is read instead of mapped, so that truncating the file does no harm. Not thread-safe.
final class FileWindow {
    private let file: FileDescriptor
    private var storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var start = 0

    /// Holds a frame without its value.
    static let bytes = 68 << 10

    init(_ file: FileDescriptor) { self.file = file }

    deinit { storage.deallocate() }

    /// Reads so that the window contains `range`. Bytes beyond the end of the file are zero.
    func show(_ range: Range<Int>) throws(StorageError) {
        guard range.lowerBound < start || range.upperBound > start + storage.count else { return }
        precondition(range.count <= FileWindow.bytes)
        if storage.isEmpty { storage = .allocate(byteCount: FileWindow.bytes, alignment: 16) }
        start = range.lowerBound
        do throws(StorageError) {
            let filled = try file.read(into: storage, at: start)
            UnsafeMutableRawBufferPointer(rebasing: storage[filled...]).initializeMemory(
                as: UInt8.self, repeating: 0)
        } catch {
            forget()
            throw error
        }
    }

    func forget() {
        storage.deallocate()
        storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    /// Bytes that the window contains. Valid until another range is read.
    func view(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: storage[range.lowerBound - start..<range.upperBound - start])
    }

    /// Whether the file is zero between two offsets of any distance.
    func isZero(from offset: Int, upTo end: Int) throws(StorageError) -> Bool {
        for offset in stride(from: offset, to: end, by: FileWindow.bytes) {
            let part = offset..<min(offset + FileWindow.bytes, end)
            try show(part)
            guard isZero(part) else { return false }
        }
        return true
    }

    func isZero(_ range: Range<Int>) -> Bool {
        guard !range.isEmpty, let first = view(range).baseAddress else { return true }
        // The first byte is zero, and each equals the one before it.
        return first.load(as: UInt8.self) == 0 && memcmp(first, first + 1, range.count - 1) == 0
    }
}
