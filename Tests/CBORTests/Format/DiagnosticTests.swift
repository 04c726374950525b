import CBOR
import Testing

@Suite("Diagnostic notation") struct DiagnosticTests {
    @Test(
        "prints items that Appendix A doesn't have",
        arguments: [
            ("c24101", "2(h'01')"), ("c24a00010000000000000000", "2(h'00010000000000000000')"),
            ("c26161", "2(\"a\")"), ("c25f4101ff", "2((_ h'01'))"), ("c482211a00006ab3", "4([-2, 27315])"),
            ("5fff", "''_"), ("7fff", "\"\"_"), ("bfff", "{_ }"), ("bf9fff01ff", "{_ [_ ]: 1}"),
            ("62c29b", "\"\\u009b\""), ("611b", "\"\\u001b\""), ("fb4341c37937e08001", "10000000000000002.0"),
            ("fb4341c37937e08000", "10000000000000000.0"), ("fb44b52d02c7e14af6", "1.0e+23"),
        ])
    func notation(input: String, expected: String) throws {
        #expect(try CBORDiagnosticPrinter.text(of: bytes(hex: input)) == expected)
    }

    @Test("a value's description is its notation") func description() {
        let value: CBORValue = ["a": [1, .tagged(1, 2.0)]]
        #expect("\(value)" == "{\"a\": [1, 1(2.0)]}")
        #expect(value.diagnostic == value.description)
    }
}
