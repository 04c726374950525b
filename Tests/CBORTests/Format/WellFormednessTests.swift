import CBOR
import Testing

/// RFC 8949, Appendix F, and the limits of this reader.
@Suite("Bytes that are not CBOR") struct WellFormednessTests {
    private static func error(_ text: String) -> CBORError? {
        do throws(CBORError) {
            _ = try CBORReader.decode(bytes(hex: text))
            return nil
        } catch {
            return error
        }
    }

    /// All readers must refuse the same inputs for the same reason.
    private static func expectRefused(_ text: String, _ reason: CBORError.Reason) {
        let input = bytes(hex: text)
        guard let failure = error(text) else {
            Issue.record("\(text) was read")
            return
        }
        #expect(failure.reason == reason, "\(text)")
        #expect(!CBORReader.isWellFormed(input), "\(text)")
        #expect(throws: failure) { try CBORDiagnosticPrinter.text(of: input) }
        #expect(throws: failure) {
            try input.withUnsafeBytes {
                var reader = CBORReader($0)
                try reader.skipItem(checkingText: true)
                try reader.expectEnd()
            }
        }
    }

    @Test(
        "refuses truncated items",
        arguments: [
            "", "18", "19", "1a", "1b", "1901", "1a0102", "1b01020304050607", "38", "58", "78", "98", "b8",
            "d8", "f8", "f900", "fa0000", "fb000000", "c0", "5f4100", "7f6100", "9f", "9f0102", "bf",
            "bf01020102", "819f", "9f8000", "9f9f9f9f9fffffffff", "9f819f819f9fffffff", "9a01ff00",
        ])
    func truncated(text: String) {
        Self.expectRefused(text, .truncated)
    }

    @Test(
        "refuses lengths beyond the input",
        arguments: [
            ("41", 1), ("61", 1), ("5affffffff00", 0xffff_ffff), ("5bffffffffffffffff010203", .max),
            ("7affffffff00", 0xffff_ffff), ("7b7fffffffffffffff010203", 0x7fff_ffff_ffff_ffff), ("81", 1),
            ("818181818181818181", 1), ("8200", 2), ("a1", 1), ("a20102", 2), ("a100", 1), ("a2000000", 2),
            ("a1ff", 1), ("a20000ff", 2), ("9bffffffffffffffff", .max), ("bbffffffffffffffff", .max),
            ("9b8000000000000000", 0x8000_0000_0000_0000), ("bb7fffffffffffffff", 0x7fff_ffff_ffff_ffff),
        ] as [(String, UInt64)])
    func tooLong(text: String, claimed: UInt64) {
        Self.expectRefused(text, .lengthExceedsInput(claimed: claimed))
    }

    @Test("refuses reserved additional information") func reserved() {
        for major: UInt8 in 0..<8 {
            for information: UInt8 in 28...30 {
                Self.expectRefused(
                    hex([major << 5 | information]), .reservedAdditionalInformation(information))
            }
        }
        for text in ["1f", "3f", "df"] { Self.expectRefused(text, .reservedAdditionalInformation(31)) }
    }

    @Test("refuses simple values below 32 in two bytes") func simple() {
        for value: UInt8 in 0..<32 { Self.expectRefused(hex([0xf8, value]), .invalidSimpleValue(value)) }
        for value: UInt8 in 32...255 { #expect(CBORReader.isWellFormed([0xf8, value])) }
    }

    @Test(
        "refuses chunks of another type or of indefinite length",
        arguments: [
            "5f00ff", "5f21ff", "5f6100ff", "5f80ff", "5fa0ff", "5fc000ff", "5fe0ff", "7f4100ff",
            "5f5f4100ffff", "7f7f6100ffff",
        ])
    func chunks(text: String) {
        Self.expectRefused(text, .invalidChunk)
    }

    @Test(
        "refuses misplaced breaks",
        arguments: ["ff", "81ff", "8200ff", "a1ff00", "a100ff", "9f81ff", "9f829f819f9fffffffff", "c1ff"])
    func misplacedBreak(text: String) {
        Self.expectRefused(text, .unexpectedBreak)
    }

    @Test("refuses an indefinite map that ends after a key", arguments: ["bf00ff", "bf000000ff"])
    func oddMap(text: String) {
        Self.expectRefused(text, .keyWithoutValue)
    }

    @Test(
        "refuses texts that are not UTF-8",
        arguments: [
            ("6180", 1), ("61ff", 1), ("62c041", 1), ("62c080", 1), ("6261c3", 2), ("63eda080", 1),
            ("63edbfbf", 1), ("63e08080", 1), ("64f0808080", 1), ("64f4908080", 1), ("64f8888080", 1),
            ("6a6162636465666768c3c3", 9), ("7f61c361bcff", 2), ("826161a161c301", 5), ("62e6b0", 1),
        ])
    func utf8(text: String, offset: Int) {
        Self.expectRefused(text, .invalidUTF8)
        #expect(Self.error(text)?.offset == offset)
    }

    @Test("refuses bytes after the item", arguments: [("0000", 1), ("8101f6f6", 2), ("6161ff", 2)])
    func trailing(text: String, offset: Int) {
        Self.expectRefused(text, .trailingBytes(count: bytes(hex: text).count - offset))
        #expect(Self.error(text)?.offset == offset)
    }

    @Test("errors have the offset") func offsets() {
        #expect(Self.error("8201ff") == CBORError(offset: 2, reason: .unexpectedBreak))
        #expect(Self.error("83010261") == CBORError(offset: 3, reason: .lengthExceedsInput(claimed: 1)))
        #expect(Self.error("81f81f") == CBORError(offset: 1, reason: .invalidSimpleValue(31)))
        #expect(Self.error("8119")?.description == "byte 2: the input ends within an item")
    }
}
