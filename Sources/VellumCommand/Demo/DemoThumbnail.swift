/// Uncompressed grayscale PNG images (W3C, Portable Network Graphics, 3rd edition), so that sizes differ.
enum DemoThumbnail {
    /// Pixels; smaller ones are more frequent.
    private static let edges = [16, 16, 16, 16, 48, 48, 48, 160, 160, 512, 1024]

    static func edge(_ place: Int) -> Int { edges[place % edges.count] }

    static func key(_ data: DemoData, _ place: Int) -> String {
        "thumb:\(edge(place))" + data.keys[place].dropFirst("city".count)
    }

    static func image(_ place: Int) -> [UInt8] {
        let edge = edge(place)
        var pixels: [UInt8] = []
        pixels.reserveCapacity(edge * (edge + 1))
        for row in 0..<edge {
            // Filter type 0: none.
            pixels.append(0)
            for column in 0..<edge { pixels.append(UInt8(truncatingIfNeeded: row &* column &+ place)) }
        }
        var header = big(edge) + big(edge)
        // 8 bits, grayscale; compression, filter and interlace methods 0.
        header += [8, 0, 0, 0, 0]
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + chunk("IHDR", header)
            + chunk("IDAT", stored(pixels)) + chunk("IEND", [])
    }

    private static func big(_ number: some BinaryInteger) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + content
        return big(content.count) + body + big(checksum(body))
    }

    /// A zlib stream of stored blocks (RFC 1950 and 1951).
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let longest = 65_535
        var stream: [UInt8] = [0x78, 0x01]
        var sums: (UInt32, UInt32) = (1, 0)
        for start in stride(from: 0, to: bytes.count, by: longest) {
            let block = bytes[start..<min(bytes.count, start + longest)]
            let length = UInt16(block.count)
            stream.append(block.endIndex == bytes.count ? 1 : 0)
            for word in [length, ~length] { stream += [UInt8(word & 255), UInt8(word >> 8)] }
            stream += block
            for byte in block {
                sums.0 = (sums.0 + UInt32(byte)) % 65_521
                sums.1 = (sums.1 + sums.0) % 65_521
            }
        }
        return stream + big(sums.1 << 16 | sums.0)
    }

    /// CRC-32 of PNG, annex D.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ ($0 >> 8) }
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 1 ? 0xedb8_8320 ^ (sum >> 1) : sum >> 1 }
    }
}
