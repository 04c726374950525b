/// What a log's message is to a person: any valid UTF-8 is text. Stateless; safe to call from any thread.
package enum MessageText {
    /// - Parameter isCut: these bytes are the beginning of a longer message, which may end within a character.
    package static func text(_ bytes: some Sequence<UInt8>, isCut: Bool = false) -> String? {
        var bytes = Array(bytes)
        // A character has at most four bytes.
        for _ in 0..<(isCut ? 4 : 1) {
            if let text = String(validating: bytes, as: UTF8.self) { return text }
            _ = bytes.popLast()
        }
        return nil
    }
}
