#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Sendable value type; safe to use from any thread. Characters of ASCII in a row that are looked for in texts, by their bytes.
struct ByteSearch: Sendable {
    let bytes: [UInt8]

    /// Nil for none, for characters beyond ASCII, for line ends, and for the three that some characters beyond ASCII are
    /// equal to (K, `;` and the backquote): where the bytes of others aren't in a text, no character equal to them is.
    init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty,
            bytes.allSatisfy({
                $0 < 0x80 && $0 != 0x4b && $0 != 0x3b && $0 != 0x60 && $0 != 0x0a && $0 != 0x0d
            })
        else { return nil }
        self.bytes = bytes
    }

    /// Where they are first, in bytes.
    func place(in text: UnsafeRawBufferPointer) -> Int? {
        guard text.count >= bytes.count, let base = text.baseAddress else { return nil }
        return bytes.withUnsafeBytes { wanted -> Int? in
            guard let start = wanted.baseAddress else { return nil }
            var place = 0
            // Only where the first byte is the others are compared.
            while place <= text.count - wanted.count,
                let found = memchr(base + place, Int32(wanted[0]), text.count - wanted.count - place + 1)
            {
                place = UnsafeRawPointer(found) - base
                if memcmp(base + place, start, wanted.count) == 0 { return place }
                place += 1
            }
            return nil
        }
    }

    func isPrefix(of text: UnsafeRawBufferPointer) -> Bool {
        text.count >= bytes.count
            && bytes.withUnsafeBytes {
                UTF8Text.compareBytes(UnsafeRawBufferPointer(rebasing: text[..<$0.count]), $0) == 0
            }
    }

    /// Whether they are in the text as whole characters; nil where something beyond ASCII stands beside them, which may be
    /// part of one of them.
    func isFoundWhole(in text: UnsafeRawBufferPointer) -> Bool? {
        guard let place = place(in: text) else { return false }
        let end = place + bytes.count
        let isAlone = (place == 0 || text[place - 1] < 0x80) && (end == text.count || text[end] < 0x80)
        return isAlone ? true : nil
    }
}
