import ArchiveQuery
import CBOR

extension RecognizedBytes {
    /// Whether its JSON is read back differently: dates as numbers, non-finite numbers as null, plain bytes as a byte string.
    var changesInJSON: Bool {
        withSource { source in
            switch source {
            case .cbor(let item): JSONForms(of: item).isChanged
            case .json, .text: false
            case .bytes: true
            }
        }
    }

    /// Whether a map or object in it has a name twice, which JSON readers refuse or reduce to one.
    var repeatsName: Bool {
        withSource { source in
            switch source {
            case .cbor(let item): CBORReader.repeatsName(item)
            case .json(let text): text.repeatsJSONName
            case .text, .bytes: false
            }
        }
    }
}

/// Parts of a CBOR item without a JSON form of their own.
struct JSONForms: Sendable {
    /// Whether there are dates or numbers that aren't finite.
    private(set) var isChanged = false
    /// Byte strings, except large integers and UUIDs, which have a spelling.
    private(set) var byteStrings = 0

    /// Reads the item's heads (RFC 8949, section 3) once.
    init(of item: UnsafeRawBufferPointer) {
        var offset = 0
        var mayBeBytes = false
        while offset < item.count {
            let (major, info) = (item[offset] >> 5, item[offset] & 0x1f)
            let extra = info < 24 || info > 27 ? 0 : 1 << Int(info - 24)
            guard offset + extra < item.count else { return }
            var argument: UInt64 = extra == 0 ? UInt64(info) : 0
            for byte in item[(offset + 1)..<(offset + 1 + extra)] { argument = argument << 8 | UInt64(byte) }
            offset += 1 + extra
            let wasTagged = mayBeBytes
            mayBeBytes = false
            switch major {
            case 2, 3:
                if major == 2, !wasTagged { byteStrings += 1 }
                guard info != 31 else { continue }
                guard argument <= UInt64(item.count - offset) else { return }
                offset += Int(argument)
            case 6:
                // Epoch time and extended time (RFC 9581).
                if argument == 1 || argument == 1001 { isChanged = true }
                mayBeBytes = [2, 3, 37].contains(argument)
            case 7 where info == 25: if argument & 0x7c00 == 0x7c00 { isChanged = true }
            case 7 where info == 26: if !Float(bitPattern: UInt32(argument)).isFinite { isChanged = true }
            case 7 where info == 27: if !Double(bitPattern: argument).isFinite { isChanged = true }
            default: break
            }
        }
    }
}
