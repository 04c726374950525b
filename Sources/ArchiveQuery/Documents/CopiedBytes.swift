/// A copy of bytes, valid until the next one. Not thread-safe.
package final class CopiedBytes {
    private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var count = 0

    package init() {}

    deinit { buffer.deallocate() }

    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
    package var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    package func keep(_ bytes: [UInt8]) {
        if buffer.count < bytes.count || buffer.count == 0 {
            buffer.deallocate()
            buffer = .allocate(
                byteCount: bytes.count > 1 << 20 ? bytes.count : max(4096, bytes.count * 2), alignment: 8)
        }
        buffer.copyBytes(from: bytes)
        count = bytes.count
    }
}
