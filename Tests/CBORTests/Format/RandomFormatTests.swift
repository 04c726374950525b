import TestSupport
import CBOR
import Testing

@Suite("Random values and bytes") struct RandomFormatTests {
    @Test("10,000 random values decode equal") func roundTrips() throws {
        var generator = SeededGenerator.announced("round trips")
        for _ in 0..<10_000 {
            let value = CBORValue.random(depth: 3, using: &generator)
            let encoded = value.encoded
            let decoded = try CBORReader.decode(encoded)
            #expect(decoded == value)
            #expect(decoded.hashValue == value.hashValue)
            #expect(decoded.encoded == encoded)
            #expect(CBORReader.isWellFormed(encoded))
            #expect(throws: Never.self) { try JSONTranscoder.cbor(from: value.json()) }
            #expect(throws: Never.self) { try JSONTranscoder.cbor(from: value.json(.pretty)) }
            #expect(!value.diagnostic.isEmpty)
        }
    }

    @Test("all readers accept or refuse the same of 100,000 random byte strings") func randomBytes() {
        var generator = SeededGenerator.announced("random bytes")
        for _ in 0..<100_000 {
            let length = Int.random(in: 0...64, using: &generator)
            Self.expectAgreement(on: (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }
    }

    @Test("all readers accept or refuse the same of 100,000 encodings with changed, missing or added bytes")
    func mutatedEncodings() {
        var generator = SeededGenerator.announced("mutated encodings")
        var originals = AppendixA.rows.map { bytes(hex: $0.hex) }
        for _ in 0..<500 { originals.append(CBORValue.random(depth: 2, using: &generator).encoded) }
        originals.removeAll { $0.count > 400 }
        for _ in 0..<100_000 {
            guard var input = originals.randomElement(using: &generator) else { return }
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0...input.count, using: &generator)
                let byte = UInt8.random(in: 0...255, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0 where place < input.count: input[place] = byte
                case 1 where place < input.count: input.remove(at: place)
                default: input.insert(byte, at: place)
                }
            }
            Self.expectAgreement(on: input)
        }
    }

    /// Decoding, skipping and both kinds of printing must all succeed or all fail. Decoded values must encode to the input's
    /// value.
    private static func expectAgreement(on input: [UInt8]) {
        let value = try? CBORReader.decode(input)
        let isRead = value != nil
        // One comparison for each input: `#expect` for each part would be slow.
        let agree =
            CBORReader.isWellFormed(input) == isRead && ((try? JSONPrinter.text(of: input)) != nil) == isRead
            && ((try? CBORDiagnosticPrinter.text(of: input)) != nil) == isRead
            && (value.map { (try? CBORReader.decode($0.encoded)) == $0 } ?? true)
        if !agree { Issue.record("readers disagree on \(hex(input))") }
    }
}
