/// Bytes as base64url without padding (RFC 4648, section 5).
enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Appends four characters for every three bytes, and two or three for a remainder.
    static func append(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        var place = 0
        while place < bytes.count {
            let length = min(3, bytes.count - place)
            var group: UInt32 = 0
            for index in 0..<3 {
                group = group << 8 | (index < length ? UInt32(bytes[place + index]) : 0)
            }
            for index in 0...length {
                output.append(alphabet[Int(group >> UInt32(18 - 6 * index)) & 0x3f])
            }
            place += length
        }
    }
}
