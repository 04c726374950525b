/// A buffer that is valid until the next copy. Not thread-safe.
package final class CopiedBytes {
    private var room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var count = 0

    package init() {}

    deinit { room.deallocate() }

    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: room[..<count]) }
    package var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    package func keep(_ bytes: [UInt8]) {
        if room.count < bytes.count || room.count == 0 {
            room.deallocate()
            room = .allocate(
                byteCount: bytes.count > 1 << 20 ? bytes.count : max(4096, bytes.count * 2), alignment: 8)
        }
        room.copyBytes(from: bytes)
        count = bytes.count
    }
}
