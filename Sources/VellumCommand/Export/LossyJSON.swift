import ArchiveQuery
import CBOR

extension RecognizedBytes {
    /// Whether its JSON is read back as something else: dates become numbers, byte strings texts, and numbers that aren't
    /// finite null. Goes over the item's heads (RFC 8949, section 3) once.
    var changesInJSON: Bool {
        withSource { source in
            switch source {
            case .cbor(let item): Self.changesInJSON(item)
            case .json, .text: false
            case .bytes: true
            }
        }
    }

    private static func changesInJSON(_ item: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        var mayBeBytes = false
        while offset < item.count {
            let (major, info) = (item[offset] >> 5, item[offset] & 0x1f)
            let extra = info < 24 || info > 27 ? 0 : 1 << Int(info - 24)
            guard offset + extra < item.count else { return false }
            var argument: UInt64 = extra == 0 ? UInt64(info) : 0
            for byte in item[(offset + 1)..<(offset + 1 + extra)] { argument = argument << 8 | UInt64(byte) }
            offset += 1 + extra
            let wasTagged = mayBeBytes
            mayBeBytes = false
            switch major {
            case 2 where !wasTagged: return true
            case 2, 3:
                guard info != 31 else { continue }
                guard argument <= UInt64(item.count - offset) else { return false }
                offset += Int(argument)
            case 6:
                // Epoch time and extended time (RFC 9581). Large integers and UUIDs are byte strings that have a spelling.
                if argument == 1 || argument == 1001 { return true }
                mayBeBytes = [2, 3, 37].contains(argument)
            case 7 where info == 25: if argument & 0x7c00 == 0x7c00 { return true }
            case 7 where info == 26: if !Float(bitPattern: UInt32(argument)).isFinite { return true }
            case 7 where info == 27: if !Double(bitPattern: argument).isFinite { return true }
            default: break
            }
        }
        return false
    }
}
