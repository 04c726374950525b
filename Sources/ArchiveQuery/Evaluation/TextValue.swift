#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A text that is compared with many stored texts by canonical equivalence, like Swift's strings. For ASCII,
/// comparing bytes is enough.
struct TextValue {
    let string: String
    private let bytes: [UInt8]
    private let isASCII: Bool

    /// Its date, if the text is one in ISO 8601.
    var date: Double? { bytes.withUnsafeBytes { DateText.date($0) } }

    init(_ string: String) {
        self.string = MarkOrder.string(string)
        bytes = Array(string.utf8)
        isASCII = bytes.withUnsafeBytes { UTF8Text.isASCII($0) }
    }

    /// Whether `text` is equivalent.
    @inline(__always)
    func isEqual(to text: UnsafeRawBufferPointer) -> Bool {
        let isSame = bytes.withUnsafeBytes {
            $0.count == text.count
                && ($0.isEmpty || memcmp($0.baseAddress!, text.baseAddress!, $0.count) == 0)
        }
        if isSame { return true }
        // A few non-ASCII characters are equivalent to an ASCII one, such as the Kelvin sign to K.
        if isASCII, UTF8Text.isASCII(text) { return false }
        return string == MarkOrder.string(text)
    }

    /// Negative if `text` comes before this one, positive if it comes after it.
    func order(of text: UnsafeRawBufferPointer) -> Int {
        if isASCII, UTF8Text.isASCII(text) {
            return bytes.withUnsafeBytes { UTF8Text.compareBytes(text, $0) }
        }
        return order(of: MarkOrder.string(text))
    }

    func order(of text: String) -> Int { text < string ? -1 : text == string ? 0 : 1 }
}

/// Functions on stored texts, which are UTF-8.
enum UTF8Text {
    static func string(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Tests eight bytes per step.
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

    static func compareBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let count = min(left.count, right.count)
        if count > 0, let a = left.baseAddress, let b = right.baseAddress {
            let order = Int(memcmp(a, b, count))
            if order != 0 { return order }
        }
        return left.count - right.count
    }

    /// The number of characters. In ASCII only CR LF is a character of two bytes.
    static func characters(_ bytes: UnsafeRawBufferPointer) -> Int {
        isASCII(bytes) && !bytes.contains(0x0d) ? bytes.count : string(bytes).count
    }
}
