import CBOR
import Foundation
import StorageEngine

package enum ValueForm: Sendable, Hashable {
    case cbor, json, propertyList, text, bytes

    package var isDocument: Bool { self != .text && self != .bytes }

    /// The encoding by which a value of this form is recognized again.
    package var encoding: ValueEncoding {
        switch self {
        case .cbor: .cbor
        case .json: .json
        case .propertyList: .propertyList
        case .text, .bytes: .text
        }
    }
}

enum ValueFault: Error, Equatable {
    case malformed
    /// A property list that is nested too deeply or expands too much.
    case oversized
    /// Longer than the limit of conversions or copies.
    case long
}

/// Recognizes the form of a value, by its declared encoding or else its content, for queries, command line and browser.
enum ValueRecognizer {
    /// Writes the value as one CBOR item: nothing for CBOR, bytes for an unrecognized value. `most`: the limit of a
    /// converted property list in bytes. Without a writer only property lists are written.
    static func recognize(
        _ value: UnsafeRawBufferPointer, _ encoding: ValueEncoding, mostConverted most: Int,
        into writer: inout CBORWriter?
    ) throws(ValueFault) -> ValueForm {
        switch encoding {
        case .cbor:
            guard CBORReader.isWellFormed(value) else { throw .malformed }
            return .cbor
        case .json:
            guard transcodeJSON(value, into: &writer) else { throw .malformed }
            return .json
        case .propertyList:
            writer = try propertyList(value, most)
            return .propertyList
        case .text: return plain(value, into: &writer)
        case .unknown: return try lookAt(value, most, into: &writer)
        }
    }

    /// Recognizes documents by their beginning, but not a single number or word.
    private static func lookAt(
        _ value: UnsafeRawBufferPointer, _ most: Int, into writer: inout CBORWriter?
    ) throws(ValueFault) -> ValueForm {
        if seemsCBOR(value) { return .cbor }
        let first = value.first { $0 != 0x20 && !(0x09...0x0d ~= $0) }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "["), transcodeJSON(value, into: &writer) {
            return .json
        }
        if value.starts(with: BinaryPropertyList.magic) || value.starts(with: "<?xml".utf8) {
            do throws(ValueFault) {
                writer = try propertyList(value, most)
                return .propertyList
            } catch  where error != .malformed {
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

    private static func transcodeJSON(
        _ value: UnsafeRawBufferPointer, into writer: inout CBORWriter?
    ) -> Bool {
        guard writer != nil else { return value.jsonProblem == nil }
        return (try? JSONTranscoder.transcode(value, into: &writer!)) != nil
    }

    /// Text is UTF-8 without NUL.
    static func plain(_ value: UnsafeRawBufferPointer, into writer: inout CBORWriter?) -> ValueForm {
        guard !value.contains(0), value.isUTF8 else {
            writer?.write(bytes: value)
            return .bytes
        }
        writer?.write(utf8: value)
        return .text
    }

    private static func propertyList(
        _ value: UnsafeRawBufferPointer, _ most: Int
    ) throws(ValueFault) -> CBORWriter {
        guard value.count <= most else { throw .long }
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

package struct RecognizedValue: Sendable {
    package let form: ValueForm
    /// The value as one CBOR item: a document, a text or a byte string.
    package let item: [UInt8]
    /// The mismatch with the declared encoding, in one line; the form then follows the content. Nil if they match.
    package let problem: String?

    /// O(bytes).
    package init(_ bytes: [UInt8], encoding: ValueEncoding) {
        var writer: CBORWriter? = CBORWriter(capacity: bytes.count + 9)
        (form, problem) = bytes.withUnsafeBytes { value in
            // Without a limit, this can't fail.
            (try? RecognizedValue.recognize(value, encoding, mostConverted: .max, into: &writer))
                ?? (ValueRecognizer.plain(value, into: &writer), nil)
        }
        item = form == .cbor ? bytes : writer?.bytes ?? []
    }

    fileprivate static func recognize(
        _ value: UnsafeRawBufferPointer, _ encoding: ValueEncoding, mostConverted most: Int,
        into writer: inout CBORWriter?
    ) throws(ValueFault) -> (ValueForm, String?) {
        let isWritten = writer != nil
        do throws(ValueFault) {
            let form = try ValueRecognizer.recognize(value, encoding, mostConverted: most, into: &writer)
            let isWrong = encoding == .text && form == .bytes
            return (form, isWrong ? "not valid UTF-8, shown as bytes" : nil)
        } catch  where error != .long {
            let problem = RecognizedValue.problem(error, value, encoding)
            writer = isWritten ? CBORWriter() : nil
            do throws(ValueFault) {
                let form = try ValueRecognizer.recognize(value, .unknown, mostConverted: most, into: &writer)
                return (form, problem)
            } catch  where error != .long {
                return (ValueRecognizer.plain(value, into: &writer), problem)
            }
        }
    }

    private static func problem(
        _ fault: ValueFault, _ bytes: UnsafeRawBufferPointer, _ encoding: ValueEncoding
    ) -> String {
        if fault == .oversized { return "a property list that is nested too deeply or expands too much" }
        switch encoding {
        case .cbor:
            var reader = CBORReader(bytes)
            do throws(CBORError) {
                try reader.skipItem(checkingText: true)
                try reader.expectEnd()
            } catch { return "not valid CBOR: \(error)" }
        case .json: if let error = bytes.jsonProblem { return "not valid JSON: \(error)" }
        default: return "not a property list"
        }
        return "not in its declared encoding"
    }

    /// Texts become strings, bytes strings such as `h'00ff'`.
    package func json(_ layout: JSONLayout) throws(CBORError) -> [UInt8] {
        Array(try JSONPrinter.text(of: item, layout: layout).utf8)
    }
}

/// A value of any length, recognized and read in place. Valid as long as its bytes.
package struct RecognizedBytes {
    package let form: ValueForm
    package let bytes: UnsafeRawBufferPointer
    package let problem: String?
    /// A property list as a CBOR item.
    private let list: [UInt8]?
    /// The limit of a converted property list in bytes; conversion may need some hundred bytes for each.
    private static let longestList = 8 << 20

    /// O(bytes). Copies only property lists; throws for one that is too long to convert.
    package init(_ bytes: UnsafeRawBufferPointer, encoding: ValueEncoding) throws(TooLongPropertyList) {
        self.bytes = bytes
        var writer: CBORWriter?
        do throws(ValueFault) {
            (form, problem) = try RecognizedValue.recognize(
                bytes, encoding, mostConverted: Self.longestList, into: &writer)
        } catch {
            throw TooLongPropertyList(bytes: bytes.count)
        }
        list = form == .propertyList ? writer?.bytes : nil
    }

    /// Calls `body` with the source of its JSON: a text becomes a string, bytes a string such as `h'00ff'`.
    package func withSource<Result>(_ body: (JSONSource) throws -> Result) rethrows -> Result {
        if let list { return try list.withUnsafeBytes { try body(.cbor($0)) } }
        switch form {
        case .json: return try body(.json(bytes))
        case .text: return try body(.text(bytes))
        case .bytes: return try body(.bytes(bytes))
        case .cbor, .propertyList: return try body(.cbor(bytes))
        }
    }
}

/// A property list that can't be converted in bounded memory.
package struct TooLongPropertyList: Error, CustomStringConvertible {
    let bytes: Int
    package var description: String {
        "a property list of \(bytes) bytes is too long to be converted; get --raw prints it unchanged"
    }
}
