import CBOR
import Testing

@Suite("RFC 8949, Appendix A") struct AppendixATests {
    @Test("the table is complete") func rowCount() {
        #expect(AppendixA.rows.count == 81)
    }

    @Test("bytes decode to the value", arguments: AppendixA.rows) func decode(row: AppendixARow) throws {
        #expect(try CBORReader.decode(bytes(hex: row.hex)) == row.value)
        #expect(CBORReader.isWellFormed(bytes(hex: row.hex)))
    }

    @Test("bytes print in the RFC's notation", arguments: AppendixA.rows)
    func diagnostic(row: AppendixARow) throws {
        #expect(try CBORDiagnosticPrinter.text(of: bytes(hex: row.hex)) == row.diagnostic)
    }

    @Test("preferred rows encode to the same bytes, others to different bytes", arguments: AppendixA.rows)
    func encode(row: AppendixARow) throws {
        let encoded = hex(row.value.encoded)
        #expect((encoded == row.hex) == row.isPreferred)
        #expect(hex(try CBORReader.decode(bytes(hex: row.hex)).encoded) == encoded)
    }
}
