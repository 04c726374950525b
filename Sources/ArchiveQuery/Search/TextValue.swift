import SystemC

/// A text to compare with many stored texts by canonical equivalence. For ASCII, comparing bytes is enough.
struct TextValue {
    let string: String
    private let bytes: [UInt8]
    private let isASCII: Bool

    var date: Double? { bytes.withUnsafeBytes { DateText.date($0) } }

    init(_ string: String) {
        self.string = MarkOrder.string(string)
        bytes = Array(string.utf8)
        isASCII = bytes.withUnsafeBytes { UTF8Text.isASCII($0) }
    }

    @inline(__always)
    func isEqual(to text: UnsafeRawBufferPointer) -> Bool {
        if bytes.withUnsafeBytes({ UTF8Text.isSame($0, text) }) { return true }
        // A few non-ASCII characters are equivalent to an ASCII one, such as the Kelvin sign to K.
        if isASCII, UTF8Text.isASCII(text) { return false }
        return string == MarkOrder.string(text)
    }

    /// Negative if `text` is before this one, positive if after.
    func order(of text: UnsafeRawBufferPointer) -> Int {
        bytes.withUnsafeBytes { TextOrder.compare(text, $0) }
    }

    /// By bytes, for keys.
    func byteOrder(of text: UnsafeRawBufferPointer) -> Int {
        bytes.withUnsafeBytes { UTF8Text.compareBytes(text, $0) }
    }

    func order(of text: String) -> Int { TextOrder.compare(MarkOrder.string(text), string) }
}

/// Functions on stored texts, which are UTF-8.
package enum UTF8Text {
    static func string(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }

    @inline(__always)
    static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        while place + 8 <= bytes.count {
            if bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
                return false
            }
            place += 8
        }
        while place < bytes.count {
            if bytes[place] >= 0x80 { return false }
            place += 1
        }
        return true
    }

    @inline(__always)
    static func isSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count, let a = left.baseAddress, let b = right.baseAddress else {
            return left.count == right.count
        }
        return memcmp(a, b, left.count) == 0
    }

    static func compareBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let count = min(left.count, right.count)
        if count > 0, let a = left.baseAddress, let b = right.baseAddress {
            let order = Int(memcmp(a, b, count))
            if order != 0 { return order }
        }
        return left.count - right.count
    }

    /// The scalar at `start`, and its end; nil for invalid bytes.
    @inline(__always)
    package static func scalar(_ text: UnsafeRawBufferPointer, at start: Int) -> (scalar: UInt32, end: Int)? {
        let first = text[start]
        if first < 0x80 { return (UInt32(first), start + 1) }
        let count = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
        guard first >= 0xc2, first < 0xf5, start + count <= text.count else { return nil }
        var scalar = UInt32(first) & (0x7f >> UInt32(count))
        for place in start + 1..<start + count {
            guard text[place] & 0xc0 == 0x80 else { return nil }
            scalar = scalar << 6 | UInt32(text[place] & 0x3f)
        }
        // Neither overlong nor a surrogate.
        let least: UInt32 = count == 2 ? 0x80 : count == 3 ? 0x800 : 0x10000
        guard scalar >= least, scalar < 0xd800 || 0xe000...0x10ffff ~= scalar else { return nil }
        return (scalar, start + count)
    }

    /// The number of characters. In ASCII only CR LF is a character of two bytes.
    static func characters(_ bytes: UnsafeRawBufferPointer) -> Int {
        isASCII(bytes) && !bytes.contains(0x0d) ? bytes.count : string(bytes).count
    }
}

enum KeyText {
    case bytes(UnsafeRawBufferPointer)
    case string(String)

    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch self {
        case .bytes(let bytes): return body(bytes)
        case .string(var string): return string.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        }
    }

    var string: String {
        switch self {
        case .bytes(let bytes): UTF8Text.string(bytes)
        case .string(let string): string
        }
    }
}
