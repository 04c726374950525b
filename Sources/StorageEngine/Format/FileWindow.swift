import SystemC

/// A part of a file that is read instead of mapped, so that truncating the file does no harm. For one thread.
struct FileWindow {
    private let file: FileDescriptor
    private var storage: [UInt8] = []
    private var start = 0

    static let bytes = 64 << 10

    init(_ file: FileDescriptor) { self.file = file }

    /// Reads so that the window contains `range`. Bytes beyond the end of the file are zero.
    mutating func show(_ range: Range<Int>) throws(StorageError) {
        guard range.lowerBound < start || range.upperBound > start + storage.count else { return }
        if storage.isEmpty { storage = [UInt8](repeating: 0, count: FileWindow.bytes) }
        start = range.lowerBound
        var filled = 0
        do throws(StorageError) {
            filled = try file.read(into: &storage, at: start)
        } catch {
            storage = []
            throw error
        }
        if filled < storage.count {
            storage.replaceSubrange(filled..., with: repeatElement(0, count: storage.count - filled))
        }
    }

    mutating func forget() { storage = [] }

    func byte(_ offset: Int) -> UInt8 { storage[offset - start] }

    func number<Number: FixedWidthInteger>(_ offset: Int, as type: Number.Type = Number.self) -> Number {
        let place = offset - start
        precondition(place >= 0 && place <= storage.count - MemoryLayout<Number>.size)
        return storage.withUnsafeBytes {
            Number(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: Number.self))
        }
    }

    /// Whether the file is zero between two offsets of any distance; skips holes.
    mutating func isZero(from offset: Int, upTo end: Int) throws(StorageError) -> Bool {
        guard offset < end else { return true }
        for stretch in try file.status().isSparse ? file.data(from: offset, upTo: end) : [offset..<end] {
            var offset = stretch.lowerBound
            while offset < stretch.upperBound {
                let part = offset..<min(offset + FileWindow.bytes, stretch.upperBound)
                try show(part)
                guard isZero(part) else { return false }
                offset = part.upperBound
            }
        }
        return true
    }

    func isZero(_ range: Range<Int>) -> Bool {
        guard range.count > 1, byte(range.lowerBound) == 0 else {
            return range.isEmpty || byte(range.lowerBound) == 0
        }
        return storage.withUnsafeBytes { bytes -> Bool in
            guard let base = bytes.baseAddress else { return true }
            let first = base + (range.lowerBound - start)
            // The first byte is zero, and each equals the one before it.
            return memcmp(first, first + 1, range.count - 1) == 0
        }
    }

    func array(_ range: Range<Int>) -> [UInt8] {
        Array(storage[range.lowerBound - start..<range.upperBound - start])
    }

    func register(_ register: UInt32, over range: Range<Int>) -> UInt32 {
        storage.withUnsafeBytes { bytes in
            Checksum.register(
                register,
                over: UnsafeRawBufferPointer(
                    rebasing: bytes[range.lowerBound - start..<range.upperBound - start]))
        }
    }
}
