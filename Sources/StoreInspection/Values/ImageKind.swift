/// Recognizes image formats by their first bytes, and reads the size from the header.
enum ImageKind {
    /// `PNG image 640x480`, or without the size if it isn't in these bytes. Nil for unknown formats.
    static func name(_ bytes: [UInt8], withSize: Bool) -> String? {
        guard let (name, size) = recognize(bytes) else { return nil }
        guard withSize, let size, size.width > 0, size.height > 0 else { return "\(name) image" }
        return "\(name) image \(size.width)x\(size.height)"
    }

    private typealias Pixels = (width: Int, height: Int)

    private static func recognize(_ bytes: [UInt8]) -> (name: String, size: Pixels?)? {
        func begins(_ text: String, at offset: Int = 0) -> Bool {
            bytes.dropFirst(offset).starts(with: text.utf8)
        }
        func pair(_ width: Int?, _ height: Int?) -> Pixels? {
            guard let width, let height else { return nil }
            return (width, height)
        }
        if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
            return ("PNG", begins("IHDR", at: 12) ? pair(big(bytes, 16, 4), big(bytes, 20, 4)) : nil)
        }
        if begins("GIF87a") || begins("GIF89a") {
            return ("GIF", pair(little(bytes, 6, 2), little(bytes, 8, 2)))
        }
        if bytes.starts(with: [0xff, 0xd8, 0xff]) { return ("JPEG", jpeg(bytes)) }
        if begins("RIFF"), begins("WEBP", at: 8) { return ("WebP", webP(bytes)) }
        if begins("BM"), little(bytes, 6, 4) == 0, let header = little(bytes, 14, 4),
            [12, 40, 52, 56, 64, 108, 124].contains(header)
        {
            guard header > 12 else { return ("BMP", pair(little(bytes, 18, 2), little(bytes, 20, 2))) }
            // A negative height counts the rows from the top.
            let height = little(bytes, 22, 4).map { abs(Int(Int32(truncatingIfNeeded: $0))) }
            return ("BMP", pair(little(bytes, 18, 4), height))
        }
        // The sizes of these formats aren't in the first bytes.
        if bytes.starts(with: [0x49, 0x49, 0x2a, 0]) || bytes.starts(with: [0x4d, 0x4d, 0, 0x2a]) {
            return ("TIFF", nil)
        }
        if begins("ftypavif", at: 4) { return ("AVIF", nil) }
        return begins("ftypheic", at: 4) ? ("HEIC", nil) : nil
    }

    /// The size in the first frame header.
    private static func jpeg(_ bytes: [UInt8]) -> Pixels? {
        var place = 2
        while let mark = big(bytes, place, 2), mark >= 0xff00 {
            let code = mark & 0xff
            if code == 0xff {
                place += 1
                continue
            }
            guard let length = big(bytes, place + 2, 2), length >= 2 else { return nil }
            if (0xc0...0xcf).contains(code), ![0xc4, 0xc8, 0xcc].contains(code) {
                guard let height = big(bytes, place + 5, 2), let width = big(bytes, place + 7, 2) else {
                    return nil
                }
                return (width, height)
            }
            place += 2 + length
        }
        return nil
    }

    private static func webP(_ bytes: [UInt8]) -> Pixels? {
        guard bytes.count >= 30 else { return nil }
        switch String(decoding: bytes[12..<16], as: UTF8.self) {
        case "VP8 ": return ((little(bytes, 26, 2) ?? 0) & 0x3fff, (little(bytes, 28, 2) ?? 0) & 0x3fff)
        case "VP8L":
            let bits = little(bytes, 21, 4) ?? 0
            return ((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1)
        case "VP8X": return ((little(bytes, 24, 3) ?? 0) + 1, (little(bytes, 27, 3) ?? 0) + 1)
        default: return nil
        }
    }

    private static func big(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int? {
        guard offset + count <= bytes.count else { return nil }
        return bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func little(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int? {
        guard offset + count <= bytes.count else { return nil }
        return bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
