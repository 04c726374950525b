/// Why a text isn't JSON (RFC 8259), or can't be converted, and where.
public struct JSONError: Error, Sendable, Hashable {
    /// Elements of the grammar.
    public enum Expectation: Sendable, Hashable {
        /// Any value.
        case value
        /// A decimal digit.
        case digit
        /// A key, or the brace that closes an empty object.
        case keyOrEnd
        /// A key in quotes, after a comma.
        case key
        /// The colon after a key.
        case colon
        /// A comma or the closing brace, after an entry of an object.
        case commaOrObjectEnd
        /// A comma or the closing bracket, after an item of an array.
        case commaOrArrayEnd
        /// The rest of `true`, `false` or `null`.
        case literal
        /// The end of the text, after its value.
        case end
        /// The closing quote of a string.
        case quote
        /// One of `"\/bfnrtu` after a backslash.
        case escape
        /// A hexadecimal digit of a `\u` escape.
        case hexDigit
    }

    /// A fault of the text.
    public enum Reason: Sendable, Hashable {
        /// The text ends where more was expected.
        case unexpectedEnd(expected: Expectation)
        /// A byte, `found`, that the grammar doesn't allow at the offset.
        case unexpected(found: UInt8, expected: Expectation)
        /// A digit after the 0 that begins a number.
        case leadingZero
        /// A byte below 0x20 inside a string, which JSON requires to be escaped.
        case controlCharacter(UInt8)
        /// Half of a UTF-16 surrogate pair without the other: no Unicode text holds it.
        case loneSurrogate(UInt16)
        /// Bytes that are not valid UTF-8.
        case invalidUTF8
        /// Arrays and objects are nested more deeply than ``JSONTranscoder/maximumDepth``.
        case nestingTooDeep(limit: Int)
        /// A number with more significant digits than the limit.
        case tooManyDigits(limit: Int)
        /// A number whose exponent doesn't fit into 64 bits.
        case exponentOutOfRange
        /// An object has a name twice, where that is refused. The name is as in the text, with quotes; a long one is cut.
        case repeatedName(String)
    }

    /// Bytes from the start of the text.
    public let offset: Int
    /// The fault at the offset.
    public let reason: Reason

    /// Creates an error for the byte `offset` bytes from the start of the text.
    public init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }
}

extension JSONError: CustomStringConvertible {
    public var description: String { "byte \(offset): \(reason)" }
}

extension JSONError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unexpectedEnd(let expected): "found the end of the text, expected \(expected)"
        case .unexpected(let found, let expected): "found \(Self.name(of: found)), expected \(expected)"
        case .leadingZero: "found a digit after a leading 0, expected the number to end or a fraction"
        case .controlCharacter(let byte): "found \(Self.name(of: byte)) in a string, expected its escape"
        case .loneSurrogate(let unit): "found half a surrogate pair, \\u\(String(unit, radix: 16))"
        case .invalidUTF8: "found bytes that are not valid UTF-8"
        case .nestingTooDeep(let limit): "more than \(limit) levels of nesting"
        case .tooManyDigits(let limit): "a number of more than \(limit) digits"
        case .exponentOutOfRange: "the number's exponent is out of range"
        case .repeatedName(let name): "an object has the name \(name) twice"
        }
    }

    /// A printable character in quotes, anything else as its code.
    private static func name(of byte: UInt8) -> String {
        guard (0x21...0x7e).contains(byte) else {
            return "byte 0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "'" + String(UnicodeScalar(byte)) + "'"
    }
}

extension JSONError.Expectation: CustomStringConvertible {
    public var description: String {
        switch self {
        case .value: "a value"
        case .digit: "a digit"
        case .keyOrEnd: "a key in quotes or '}'"
        case .key: "a key in quotes"
        case .colon: "':'"
        case .commaOrObjectEnd: "',' or '}'"
        case .commaOrArrayEnd: "',' or ']'"
        case .literal: "true, false or null"
        case .end: "the end of the text"
        case .quote: "the closing quote of the string"
        case .escape: "one of \"\\/bfnrtu after a backslash"
        case .hexDigit: "a hexadecimal digit"
        }
    }
}
