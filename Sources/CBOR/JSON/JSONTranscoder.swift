/// Converts JSON text (RFC 8259) into CBOR in one pass, without building values.
///
/// No information is lost:
/// - objects become maps of definite length that keep the order of the keys, duplicates included;
/// - strings stay the same Unicode text, neither normalized nor trimmed;
/// - integers from -2^64 to 2^64 - 1 become integer items, and others exact bignums; `-0` becomes the float -0.0;
/// - numbers with a fraction or exponent become floats if the shortest text of the nearest `Double` is the same number,
///   otherwise decimal fractions (tag 4). They print with a point or an exponent, but may be respelled: `1e5` becomes
///   `100000.0`.
///
/// ```
/// {"a":[1,2.5]}   →   a1 61 61 82 01 f9 4100
/// ```
///
/// The grammar is strict: no comments, no trailing commas, no byte order mark, no lone surrogates, no invalid UTF-8. Arrays and
/// objects may be nested ``maximumDepth`` deep; numbers may have 16,384 significant digits and an exponent of 64 bits. A text
/// beyond these limits is refused, never altered.
public enum JSONTranscoder {
    /// The maximum nesting of arrays and objects. Even with the three levels that a decimal fraction can add, this is less than
    /// ``CBORReader/defaultMaximumDepth``.
    public static let maximumDepth = 500

    /// Appends the value of `json`: exactly one value, optionally in white space. On an error nothing is appended. O(length).
    public static func transcode(
        _ json: UnsafeRawBufferPointer, into writer: inout CBORWriter
    ) throws(JSONError) {
        try transcode(json, into: &writer, uniqueNames: false)
    }

    /// - Parameter uniqueNames: whether an object with a name twice is refused.
    /// - Parameter readsBytes: whether `h'63'` (``JSONPrinter``) is a byte string, and with a backslash before it a text.
    package static func transcode(
        _ json: UnsafeRawBufferPointer, into writer: inout CBORWriter, uniqueNames: Bool,
        readsBytes: Bool = false
    ) throws(JSONError) {
        var scanner = JSONScanner(json, at: 0)
        if uniqueNames { scanner.names = ObjectNames() }
        scanner.readsBytes = readsBytes
        let length = writer.bytes.count
        do throws(JSONError) {
            try scanner.value(into: &writer, depth: 0)
            try scanner.expectEnd()
        } catch {
            writer.bytes.removeSubrange(length...)
            throw error
        }
    }

    /// Converts `json`, which must be exactly one value. Cost: O(length).
    public static func cbor(from json: String) throws(JSONError) -> [UInt8] {
        try cbor(from: Array(json.utf8))
    }

    /// Converts `json`, UTF-8 text that must be exactly one value. Cost: O(length).
    public static func cbor(from json: [UInt8]) throws(JSONError) -> [UInt8] {
        try cbor(from: json, uniqueNames: false)
    }

    package static func cbor(
        from json: [UInt8], uniqueNames: Bool, readsBytes: Bool = false
    ) throws(JSONError) -> [UInt8] {
        var writer = CBORWriter(capacity: json.count)
        try json.withRawBytes { text throws(JSONError) in
            try transcode(text, into: &writer, uniqueNames: uniqueNames, readsBytes: readsBytes)
        }
        return writer.bytes
    }

    /// The characters of the escape after a backslash, in UTF-8, and moves `place` past it; nil for an invalid escape.
    package static func readEscape(in text: UnsafeRawBufferPointer, at place: inout Int) -> [UInt8]? {
        var (scanner, writer) = (JSONScanner(text, at: place), CBORWriter())
        guard (try? scanner.escape(into: &writer)) != nil else { return nil }
        place = scanner.place
        return writer.bytes
    }
}
