package enum MessageText {
    /// - Parameter isCut: whether the bytes may end within a character.
    package static func text(_ bytes: some Sequence<UInt8>, isCut: Bool = false) -> String? {
        var bytes = Array(bytes)
        for _ in 0..<(isCut ? 4 : 1) {
            if let text = String(validating: bytes, as: UTF8.self) { return text }
            _ = bytes.popLast()
        }
        return nil
    }
}
