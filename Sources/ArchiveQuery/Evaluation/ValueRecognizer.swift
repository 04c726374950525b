import CBOR
import Foundation
import StorageEngine

/// The recognised form of a value.
package enum ValueForm: Sendable, Hashable {
    case cbor, json, propertyList, text, bytes

    /// Whether it can have properties or elements.
    package var isDocument: Bool { self != .text && self != .bytes }
}

/// Why a value doesn't match its declared encoding.
enum ValueFault: Error, Equatable {
    case malformed
    /// A property list that is nested too deeply or expands too much.
    case oversized
}

/// Determines the form of a value: by its declared encoding or, if that is unknown, by its content. Queries, the
/// command line and the browser share this rule. Stateless; safe from any thread.
enum ValueRecognizer {
    /// Writes the value as one CBOR item: a text as a text, an unrecognised value as bytes. Writes nothing for a
    /// value that is CBOR already.
    static func transcode(
        _ value: UnsafeRawBufferPointer, _ encoding: ValueEncoding, into writer: inout CBORWriter
    ) throws(ValueFault) -> ValueForm {
        switch encoding {
        case .cbor:
            guard CBORReader.isWellFormed(value) else { throw .malformed }
            return .cbor
        case .json:
            guard transcodeJSON(value, into: &writer) else { throw .malformed }
            return .json
        case .propertyList:
            writer = try propertyList(value)
            return .propertyList
        case .text: return plain(value, into: &writer)
        case .unknown: return try lookAt(value, into: &writer)
        }
    }

    /// Recognises documents by the bracket, brace or map that they begin with: a single number or word could be
    /// anything.
    private static func lookAt(
        _ value: UnsafeRawBufferPointer, into writer: inout CBORWriter
    ) throws(ValueFault) -> ValueForm {
        if seemsCBOR(value) { return .cbor }
        let first = value.first { $0 != 0x20 && !(0x09...0x0d ~= $0) }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "["), transcodeJSON(value, into: &writer) {
            return .json
        }
        if value.starts(with: BinaryPropertyList.magic) || value.starts(with: "<?xml".utf8) {
            do throws(ValueFault) {
                writer = try propertyList(value)
                return .propertyList
            } catch  where error == .oversized {
                throw error
            } catch {}
        }
        return plain(value, into: &writer)
    }

    /// Arrays and maps (RFC 8949, section 3.1).
    static func seemsCBOR(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let first = value.first, (0x80..<0xc0).contains(first) else { return false }
        return CBORReader.isWellFormed(value)
    }

    private static func transcodeJSON(_ value: UnsafeRawBufferPointer, into writer: inout CBORWriter) -> Bool
    {
        (try? JSONTranscoder.transcode(value, into: &writer)) != nil
    }

    /// Text is UTF-8 without NUL, which occurs in binary formats but not in text.
    static func plain(_ value: UnsafeRawBufferPointer, into writer: inout CBORWriter) -> ValueForm {
        guard !value.contains(0), let text = String(validating: value, as: UTF8.self) else {
            writer.write(bytes: value)
            return .bytes
        }
        writer.write(text)
        return .text
    }

    private static func propertyList(_ value: UnsafeRawBufferPointer) throws(ValueFault) -> CBORWriter {
        if value.starts(with: BinaryPropertyList.magic) {
            do throws(BinaryPropertyList.Fault) {
                return try BinaryPropertyList.cbor(from: value)
            } catch {
                throw error == .tooLarge ? .oversized : .malformed
            }
        }
        let isModest =
            PropertyListText.utf8(ofUTF16: value)?.withUnsafeBytes(PropertyListText.isModest)
            ?? PropertyListText.isModest(value)
        guard isModest else { throw .oversized }
        guard let list = try? PropertyListSerialization.propertyList(from: Data(value), format: nil) else {
            throw .malformed
        }
        var writer = CBORWriter(capacity: value.count)
        writer.write(PropertyListValue.value(list))
        return writer
    }
}

/// A value in its recognised form. Sendable value type.
package struct RecognizedValue: Sendable {
    package let form: ValueForm
    /// The value as one CBOR item: a document, a text or a byte string.
    package let item: [UInt8]
    /// Why the declared encoding is wrong, in one line; the form then follows the content. Nil if it is right.
    package let problem: String?

    /// Linear in the number of bytes.
    package init(_ bytes: [UInt8], encoding: ValueEncoding) {
        var writer = CBORWriter(capacity: bytes.count + 9)
        (form, problem) = bytes.withUnsafeBytes { value in
            do throws(ValueFault) {
                let form = try ValueRecognizer.transcode(value, encoding, into: &writer)
                let isWrong = encoding == .text && form == .bytes
                return (form, isWrong ? "not valid UTF-8, shown as bytes" : nil)
            } catch {
                let problem = RecognizedValue.problem(error, bytes, encoding)
                writer = CBORWriter()
                let form = try? ValueRecognizer.transcode(value, .unknown, into: &writer)
                return (form ?? ValueRecognizer.plain(value, into: &writer), problem)
            }
        }
        item = form == .cbor ? bytes : writer.bytes
    }

    private static func problem(_ fault: ValueFault, _ bytes: [UInt8], _ encoding: ValueEncoding) -> String {
        if fault == .oversized { return "a property list that is nested too deeply or expands to too much" }
        do {
            switch encoding {
            case .cbor: _ = try CBORReader.decode(bytes)
            case .json: _ = try JSONTranscoder.cbor(from: bytes)
            default: return "not a property list"
            }
        } catch {
            return "not valid \(encoding == .cbor ? "CBOR" : "JSON"): \(error)"
        }
        return "not as its writer said"
    }

    /// The value as JSON. A text becomes a string, bytes a string of base64url.
    package func json(_ layout: JSONLayout) throws(CBORError) -> [UInt8] {
        let result: Result<[UInt8], CBORError> = item.withUnsafeBytes { bytes in
            Result { () throws(CBORError) in
                var output: [UInt8] = []
                try JSONPrinter.print(bytes, layout: layout, into: &output)
                return output
            }
        }
        return try result.get()
    }
}
