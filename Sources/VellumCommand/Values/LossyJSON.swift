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

    /// Whether a map or object in it has duplicate names. JSON readers keep one of them or refuse the value.
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
    /// Number of byte strings, except large integers and UUIDs, which JSON represents.
    private(set) var byteStrings = 0

    init(of item: UnsafeRawBufferPointer) {
        var reader = CBORReader(item)
        var mayBeBytes = false
        while !reader.isAtEnd {
            let wasTagged = mayBeBytes
            mayBeBytes = false
            guard !reader.readBreak() else { continue }
            switch try? reader.readHead() {
            case .bytes(let count):
                if !wasTagged { byteStrings += 1 }
                if (try? reader.readContent(count: count ?? 0)) == nil { return }
            case .text(let count): if (try? reader.readContent(count: count ?? 0)) == nil { return }
            case .tag(let tag):
                // Epoch time and extended time (RFC 9581).
                if tag == 1 || tag == 1001 { isChanged = true }
                mayBeBytes = [2, 3, 37].contains(tag)
            case .float(let number): if !number.isFinite { isChanged = true }
            case nil: return
            default: break
            }
        }
    }
}
