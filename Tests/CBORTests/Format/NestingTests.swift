import CBOR
import Testing

@Suite("Nesting") struct NestingTests {
    private static let limit = CBORReader.defaultMaximumDepth

    /// `head` repeated, then an item, then `tail` repeated.
    private static func nest(_ head: [UInt8], _ depth: Int, tail: [UInt8] = []) -> [UInt8] {
        Array(repeatElement(head, count: depth).joined()) + [0]
            + Array(repeatElement(tail, count: depth).joined())
    }

    private static let shapes: [(head: [UInt8], tail: [UInt8])] = [
        ([0x81], []), ([0x9f], [0xff]), ([0xa1, 0x00], []), ([0xbf, 0x00], [0xff]), ([0xc1], []),
        ([0xa1], [0x00]),
    ]

    @Test("reads nesting up to the limit and refuses one level more", arguments: shapes)
    func limit(head: [UInt8], tail: [UInt8]) throws {
        let fits = Self.nest(head, Self.limit, tail: tail)
        let value = try CBORReader.decode(fits)
        #expect(CBORReader.isWellFormed(fits))
        #expect(try CBORReader.decode(value.encoded) == value)
        #expect(throws: Never.self) { try JSONPrinter.text(of: fits) }
        #expect(throws: Never.self) { try CBORDiagnosticPrinter.text(of: fits) }

        let tooDeep = Self.nest(head, Self.limit + 1, tail: tail)
        let error = CBORError(offset: head.count * Self.limit, reason: .nestingTooDeep(limit: Self.limit))
        #expect(throws: error) { try CBORReader.decode(tooDeep) }
        #expect(throws: error) { try JSONPrinter.text(of: tooDeep) }
        #expect(throws: error) { try CBORDiagnosticPrinter.text(of: tooDeep) }
        #expect(!CBORReader.isWellFormed(tooDeep))
        #expect(throws: Never.self) { try CBORReader.decode(tooDeep, maximumDepth: Self.limit + 1) }
    }

    @Test("a million levels are an error, not a crash", arguments: shapes)
    func hostile(head: [UInt8], tail: [UInt8]) {
        let input = Self.nest(head, 1_000_000, tail: tail)
        #expect(throws: CBORError.self) { try CBORReader.decode(input) }
        #expect(throws: CBORError.self) { try JSONPrinter.text(of: input) }
        #expect(throws: CBORError.self) { try CBORDiagnosticPrinter.text(of: input) }
        #expect(!CBORReader.isWellFormed(input))
    }

    @Test("values nested deeper than the limit still print and encode") func builtDeeper() {
        var value: CBORValue = 0
        for _ in 0..<Self.limit + 100 { value = [value] }
        #expect(value.encoded.count == Self.limit + 101)
        #expect(value.json().count == 2 * (Self.limit + 100) + 1)
        #expect(value.diagnostic == value.json())
        #expect(throws: CBORError.self) { try CBORReader.decode(value.encoded) }
    }

    @Test("maps as keys of maps do not multiply the output") func mapsAsKeys() throws {
        var value: CBORValue = "\""
        for _ in 0..<200 { value = [value: 1] }
        #expect(value.json().utf8.count < 3000)
        #expect(try CBORValue(json: value.json()).asMap?.count == 1)
    }
}
