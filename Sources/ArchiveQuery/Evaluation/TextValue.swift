#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A text that many stored texts are compared with, as Swift compares strings: by canonical equivalence. For ASCII the
/// bytes say it all.
struct TextValue {
    let string: String
    private let bytes: [UInt8]
    private let isASCII: Bool

    /// The date that it is, if it is one.
    var date: Double? { bytes.withUnsafeBytes { DateText.date($0) } }

    init(_ string: String) {
        self.string = MarkOrder.string(string)
        bytes = Array(string.utf8)
        isASCII = bytes.withUnsafeBytes { UTF8Text.isASCII($0) }
    }

    /// Whether `text` is the same text.
    @inline(__always)
    func isEqual(to text: UnsafeRawBufferPointer) -> Bool {
        let isSame = bytes.withUnsafeBytes {
            $0.count == text.count
                && ($0.isEmpty || memcmp($0.baseAddress!, text.baseAddress!, $0.count) == 0)
        }
        if isSame { return true }
        // A few characters that are not ASCII are the same as one that is, as the Kelvin sign and K.
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

/// Texts as they are stored: UTF-8.
enum UTF8Text {
    static func string(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Eight bytes are looked at in a step.
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

    /// Characters of a text. In ASCII only CR and LF together make one of two bytes.
    static func characters(_ bytes: UnsafeRawBufferPointer) -> Int {
        isASCII(bytes) && !bytes.contains(0x0d) ? bytes.count : string(bytes).count
    }
}
