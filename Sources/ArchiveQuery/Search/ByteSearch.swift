import SystemC

/// A sequence of ASCII characters to search in texts by bytes.
package struct ByteSearch: Sendable, Hashable {
    let bytes: [UInt8]

    /// Nil for an empty text, other characters than ASCII, line ends, and the three with other canonically equivalent
    /// characters (K, `;` and the backquote). For all others, a text without these bytes has no equal characters.
    init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty,
            bytes.allSatisfy({
                $0 < 0x80 && $0 != 0x4b && $0 != 0x3b && $0 != 0x60 && $0 != 0x0a && $0 != 0x0d
            })
        else { return nil }
        self.bytes = bytes
    }

    /// The offset of the first occurrence, in bytes.
    func place(in text: UnsafeRawBufferPointer) -> Int? { ByteSearch.place(of: bytes, in: text) }

    /// The offset of the first occurrence at or after `first`.
    package static func place(
        of bytes: [UInt8], in text: UnsafeRawBufferPointer, from first: Int = 0
    ) -> Int? {
        guard let base = text.baseAddress, !bytes.isEmpty else {
            return bytes.isEmpty && first <= text.count ? first : nil
        }
        return bytes.withUnsafeBytes { wanted -> Int? in
            guard let start = wanted.baseAddress else { return nil }
            var place = first
            // Compare the other bytes only where the first one matches.
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

    /// Whether the text contains them as whole characters. Nil next to other characters than ASCII, such as combining marks.
    func isFoundWhole(in text: UnsafeRawBufferPointer) -> Bool? {
        guard let place = place(in: text) else { return false }
        let end = place + bytes.count
        let isAlone = (place == 0 || text[place - 1] < 0x80) && (end == text.count || text[end] < 0x80)
        return isAlone ? true : nil
    }
}
