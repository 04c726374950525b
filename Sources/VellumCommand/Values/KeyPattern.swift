/// Sendable value type. A pattern as shells have them for names of files, over whole keys.
struct KeyPattern: Sendable {
    private let pattern: String

    init(_ pattern: String) {
        Self.readCharacters
        self.pattern = pattern
    }

    /// A key with a zero byte, which no pattern can spell, matches by what is before it.
    func matches(_ key: String) -> Bool { fnmatch(pattern, key, 0) == 0 }

    /// A character of UTF-8 is one for `?` and `[…]`; without a locale each of its bytes would be.
    private static let readCharacters: Void = { setlocale(LC_CTYPE, "C.UTF-8") }()
}
