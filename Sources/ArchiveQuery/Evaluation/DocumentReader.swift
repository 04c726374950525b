import CBOR
import Foundation
import StorageEngine

/// Makes one CBOR item of a value, whatever its encoding. For one thread; what it returns is valid until the next call,
/// or as long as the value's own bytes.
final class DocumentReader {
    private var room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// Values that were not CBOR.
    private(set) var transcoded = 0
    /// Property lists that are nested too deeply, or expand to too much.
    private(set) var oversized = 0

    deinit { room.deallocate() }

    /// A value that its writer called CBOR is taken as it is; all others are recognised by looking, as the rest of the
    /// program does: documents by their bracket, brace or map, then texts, then bytes.
    func document(_ value: UnsafeRawBufferPointer, _ encoding: ValueEncoding) -> UnsafeRawBufferPointer? {
        switch encoding {
        case .cbor: return value
        case .unknown:
            if let first = value.first, (0x80..<0xc0).contains(first), CBORReader.isWellFormed(value) {
                return value
            }
        case .json, .text, .propertyList: break
        }
        transcoded += 1
        var writer = CBORWriter(capacity: value.count + 9)
        guard transcode(value, encoding, into: &writer) else { return nil }
        return keep(writer.bytes)
    }

    private func transcode(
        _ value: UnsafeRawBufferPointer, _ encoding: ValueEncoding, into writer: inout CBORWriter
    ) -> Bool {
        let first = value.first
        let seemsJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        if encoding == .json || seemsJSON && encoding != .text,
            (try? JSONTranscoder.transcode(value, into: &writer)) != nil
        {
            return true
        }
        if encoding == .json { return false }
        if encoding == .propertyList || value.starts(with: "bplist00".utf8)
            || value.starts(with: "<?xml".utf8)
        {
            do {
                writer = try propertyList(value)
                return true
            } catch BinaryPropertyList.Fault.tooLarge {
                oversized += 1
                return false
            } catch {
                if encoding == .propertyList { return false }
            }
        }
        if !value.contains(0), let text = String(validating: value, as: UTF8.self) {
            writer.write(text)
        } else {
            writer.write(bytes: value)
        }
        return true
    }

    private func propertyList(_ value: UnsafeRawBufferPointer) throws -> CBORWriter {
        if value.starts(with: BinaryPropertyList.magic) { return try BinaryPropertyList.cbor(from: value) }
        let isModest =
            PropertyListText.utf8(ofUTF16: value)?.withUnsafeBytes(PropertyListText.isModest)
            ?? PropertyListText.isModest(value)
        guard isModest else { throw BinaryPropertyList.Fault.tooLarge }
        let list = try PropertyListSerialization.propertyList(from: Data(value), format: nil)
        var writer = CBORWriter(capacity: value.count)
        writer.write(PropertyListValue.value(list))
        return writer
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

/// What Foundation makes of a property list in XML, as values.
enum PropertyListValue {
    static func value(_ list: Any) -> CBORValue {
        switch list {
        case let text as String: return .text(text)
        case let flag as Bool where isBoolean(list): return .boolean(flag)
        case let date as Date: return .tagged(1, .float(date.timeIntervalSince1970))
        case let data as Data: return .bytes(Array(data))
        case let number as Int64: return number < 0 ? .negative(UInt64(~number)) : .unsigned(UInt64(number))
        case let number as UInt64: return .unsigned(number)
        case let number as Double: return .float(number)
        case let items as [Any]: return .array(items.map { value($0) })
        case let entries as [String: Any]:
            return .map(
                CBORMap(
                    entries.sorted { $0.key < $1.key }.map {
                        CBORMap.Entry(key: .text($0.key), value: value($0.value))
                    }))
        default: return .null
        }
    }

    /// A number bridges to a boolean as well.
    private static func isBoolean(_ value: Any) -> Bool {
        if type(of: value) == Bool.self { return true }
        guard let number = value as? NSNumber else { return false }
        return String(cString: number.objCType) == "c" && (number == 0 || number == 1)
    }
}
