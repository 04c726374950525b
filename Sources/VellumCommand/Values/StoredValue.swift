import CBOR
import StorageEngine

/// Sendable value type. A stored value as far as it can be made out: by what its writer said of it and, where that is
/// nothing or wrong, by looking.
enum StoredValue: Sendable {
    /// A document, as CBOR.
    case document([UInt8])
    case text(String)
    case bytes([UInt8])

    init(_ bytes: [UInt8], encoding: ValueEncoding) {
        switch encoding {
        case .cbor where CBORReader.isWellFormed(bytes): self = .document(bytes)
        case .json: self = Self.json(bytes) ?? Self.recognized(bytes)
        case .text: self = Self.text(bytes) ?? .bytes(bytes)
        default: self = Self.recognized(bytes)
        }
    }

    /// Documents are recognised by the bracket or map that they begin with: a single number or word could be anything.
    private static func recognized(_ bytes: [UInt8]) -> StoredValue {
        if let first = bytes.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let json = json(bytes)
        {
            return json
        }
        // Major types 4 and 5: arrays and maps (RFC 8949, section 3.1).
        if let first = bytes.first, (0x80..<0xc0).contains(first), CBORReader.isWellFormed(bytes) {
            return .document(bytes)
        }
        return text(bytes) ?? .bytes(bytes)
    }

    private static func json(_ bytes: [UInt8]) -> StoredValue? {
        (try? JSONTranscoder.cbor(from: bytes)).map(StoredValue.document)
    }

    /// UTF-8 without NUL, which texts don't hold and binary formats do.
    private static func text(_ bytes: [UInt8]) -> StoredValue? {
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self).map(StoredValue.text)
    }

    /// The value as one CBOR item.
    var cbor: [UInt8] {
        switch self {
        case .document(let cbor):
            return cbor
        case .text(let text):
            var writer = CBORWriter()
            writer.write(text)
            return writer.bytes
        case .bytes(let bytes):
            var writer = CBORWriter()
            writer.write(bytes: bytes)
            return writer.bytes
        }
    }

    /// The value as JSON: a text as a string, bytes as a string of base64url.
    func appendJSON(_ layout: JSONLayout, to output: inout [UInt8]) throws(CommandFailure) {
        let result: Result<Void, CBORError> = cbor.withUnsafeBytes { bytes in
            Result { () throws(CBORError) in try JSONPrinter.print(bytes, layout: layout, into: &output) }
        }
        if case .failure(let error) = result {
            throw CommandFailure("the value cannot be shown as JSON: \(error)", status: .storeFailure)
        }
    }
}
