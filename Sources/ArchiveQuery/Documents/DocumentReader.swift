import CBOR
import StorageEngine

/// Converts a value of any encoding into one CBOR item, valid until the next call. Not thread-safe.
final class DocumentReader {
    private var room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private(set) var transcoded = 0
    /// Bytes of memory that a conversion may take.
    private let mostBytes: Int

    init(mostBytes: Int) { self.mostBytes = mostBytes }

    deinit { room.deallocate() }

    /// Throws if the value doesn't match its encoding, which isn't checked for CBOR, or is too long to convert.
    func document(
        _ value: UnsafeRawBufferPointer, _ encoding: ValueEncoding
    ) throws(ValueFault) -> UnsafeRawBufferPointer {
        if encoding == .cbor || encoding == .unknown && ValueRecognizer.seemsCBOR(value) { return value }
        // The converted value is copied.
        guard value.count <= mostBytes / 2 else { throw .long }
        transcoded += 1
        var writer: CBORWriter? = CBORWriter(capacity: value.count + 9)
        _ = try ValueRecognizer.recognize(value, encoding, mostConverted: .max, into: &writer)
        return keep(writer?.bytes ?? [])
    }

    private func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        if room.count < bytes.count {
            room.deallocate()
            room = .allocate(
                byteCount: bytes.count > 1 << 20 ? bytes.count : max(4096, bytes.count * 2), alignment: 8)
        }
        room.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(rebasing: room[..<bytes.count])
    }
}
