import Testing

/// The bytes of hexadecimal digits; records an issue and returns none for other text.
func bytes(hex: String) -> [UInt8] {
    let digits = hex.compactMap { $0.hexDigitValue.map(UInt8.init) }
    guard digits.count == hex.count, digits.count % 2 == 0 else {
        Issue.record("not hexadecimal: \(hex)")
        return []
    }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
        let text = String(byte, radix: 16)
        return text.count == 1 ? "0" + text : text
    }.joined()
}
