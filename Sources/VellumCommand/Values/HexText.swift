enum HexText {
    private static let bytesPerLine = 16
    private static let digits = Array("0123456789abcdef".utf8)

    /// Writes 16 bytes a line: offset, hexadecimal and printable ASCII. Writes nothing for no bytes.
    static func dump(_ bytes: UnsafeRawBufferPointer, to writer: OutputWriter) throws(SourceError) {
        var output: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: bytesPerLine) {
            let row = bytes[start..<min(start + bytesPerLine, bytes.count)]
            append(UInt64(start), digits: 8, to: &output)
            output.append(UInt8(ascii: " "))
            for place in 0..<bytesPerLine {
                output.append(UInt8(ascii: " "))
                if place == bytesPerLine / 2 { output.append(UInt8(ascii: " ")) }
                if place < row.count {
                    append(UInt64(row[start + place]), digits: 2, to: &output)
                } else {
                    output.append(contentsOf: "  ".utf8)
                }
            }
            output.append(contentsOf: "  ".utf8)
            output.append(contentsOf: row.map { (0x20..<0x7f).contains($0) ? $0 : UInt8(ascii: ".") })
            output.append(UInt8(ascii: "\n"))
            try writer.write(output)
            output.removeAll(keepingCapacity: true)
        }
    }

    private static func append(_ number: UInt64, digits count: Int, to output: inout [UInt8]) {
        for place in (0..<count).reversed() {
            output.append(digits[Int(truncatingIfNeeded: number >> UInt64(4 * place)) & 15])
        }
    }
}
