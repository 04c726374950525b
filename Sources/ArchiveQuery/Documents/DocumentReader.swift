import CBOR
import StorageEngine

/// Converts a value of any encoding into one CBOR item, valid until the next call. Not thread-safe.
final class DocumentReader {
    private let converted = CopiedBytes()
    private(set) var transcoded = 0
    private let mostBytes: Int

    init(mostBytes: Int) { self.mostBytes = mostBytes }

    /// Throws if the value is too long to convert, or doesn't match its encoding; CBOR isn't checked.
    func document(
        _ value: UnsafeRawBufferPointer, _ encoding: ValueEncoding
    ) throws(ValueFault) -> UnsafeRawBufferPointer {
        if encoding == .cbor || encoding == .unknown && ValueRecognizer.seemsCBOR(value) { return value }
        // The converted value is copied.
        guard value.count <= mostBytes / 2 else { throw .long }
        transcoded += 1
        var writer: CBORWriter? = CBORWriter(capacity: value.count + 9)
        _ = try ValueRecognizer.recognize(value, encoding, mostConverted: .max, into: &writer)
        converted.keep(writer?.bytes ?? [])
        return converted.bytes
    }
}
