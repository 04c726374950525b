struct KeyPattern: Sendable {
    private let pattern: String

    init(_ pattern: String) {
        Self.readCharacters
        self.pattern = pattern
    }

    /// Whether a key matches. A key with a zero byte is compared only up to that byte.
    func matches(_ key: String) -> Bool { fnmatch(pattern, key, 0) == 0 }

    /// Makes `?` and `[…]` match UTF-8 characters instead of bytes.
    private static let readCharacters: Void = { setlocale(LC_CTYPE, "C.UTF-8") }()
}
