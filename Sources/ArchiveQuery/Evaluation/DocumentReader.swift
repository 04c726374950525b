import CBOR
import StorageEngine

/// Converts a value of any encoding into one CBOR item. Not thread-safe. The result is valid until the next call,
/// or as long as the value's bytes.
final class DocumentReader {
    private var room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// Values that had to be converted.
    private(set) var transcoded = 0
    /// Property lists that are nested too deeply or expand too much.
    private(set) var oversized = 0

    deinit { room.deallocate() }

    /// Nil if the value doesn't match its declared encoding. A value declared as CBOR is returned unchecked;
    /// reading it will find any fault.
    func document(_ value: UnsafeRawBufferPointer, _ encoding: ValueEncoding) -> UnsafeRawBufferPointer? {
        if encoding == .cbor || encoding == .unknown && ValueRecognizer.seemsCBOR(value) { return value }
        transcoded += 1
        var writer = CBORWriter(capacity: value.count + 9)
        do throws(ValueFault) {
            _ = try ValueRecognizer.transcode(value, encoding, into: &writer)
            return keep(writer.bytes)
        } catch {
            if error == .oversized { oversized += 1 }
            return nil
        }
    }

    private func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        if room.count < bytes.count {
            room.deallocate()
            room = .allocate(byteCount: max(4096, bytes.count * 2), alignment: 8)
        }
        room.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(rebasing: room[..<bytes.count])
    }
}
