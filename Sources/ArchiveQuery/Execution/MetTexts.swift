/// Short texts that a stage has met, by their bytes: most rows have one of a few, and to find that out by a string that is made
/// for it takes several times as long. Of those that share a place it knows the latest only. Takes 64 KiB, from the first text on.
/// A value; for one thread.
struct MetTexts {
    private static let places = 1024
    /// Bytes a place: the length of the text, and the text.
    private static let room = 64

    private var bytes: [UInt8] = []

    /// Whether it is a text that was met. False says nothing.
    func has(_ item: StoredItem) -> Bool {
        guard !bytes.isEmpty, case .text(let text) = item, text.count < Self.room else { return false }
        let start = Self.place(of: text) * Self.room
        return bytes.withUnsafeBytes { bytes in
            bytes[start] == text.count + 1
                && UTF8Text.isSame(
                    UnsafeRawBufferPointer(rebasing: bytes[(start + 1)...].prefix(text.count)), text)
        }
    }

    /// Remembers it, if it is a short text.
    mutating func note(_ item: StoredItem) {
        guard case .text(let text) = item, text.count < Self.room else { return }
        if bytes.isEmpty { bytes = [UInt8](repeating: 0, count: Self.places * Self.room) }
        let start = Self.place(of: text) * Self.room
        // 0 is a place without a text.
        bytes[start] = UInt8(text.count + 1)
        for (place, byte) in text.enumerated() { bytes[start + 1 + place] = byte }
    }

    /// Who chooses texts so that all share a place makes it useless, no more.
    @inline(__always)
    private static func place(of text: UnsafeRawBufferPointer) -> Int {
        var hash = UInt64(truncatingIfNeeded: text.count)
        var place = 0
        while place + 8 <= text.count {
            hash =
                (hash ^ text.loadUnaligned(fromByteOffset: place, as: UInt64.self)) &* 0x9e37_79b9_7f4a_7c15
            hash ^= hash >> 32
            place += 8
        }
        while place < text.count {
            hash = (hash ^ UInt64(text[place])) &* 0x9e37_79b9_7f4a_7c15
            place += 1
        }
        return Int(hash >> 54)
    }
}
