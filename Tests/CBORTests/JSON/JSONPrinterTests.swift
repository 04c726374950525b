import CBOR
import Testing

@Suite("JSON printer") struct JSONPrinterTests {
    @Test(
        "values without a JSON form print as their substitutes",
        arguments: [
            (.float(.nan), "null"), (.float(.infinity), "null"), (.float(-.infinity), "null"),
            (.undefined, "null"), (.simple(CBORSimpleValue(rawValue: 99)!), "null"), (.bytes([]), "\"h''\""),
            (.bytes([0xfb]), "\"h'fb'\""), (.bytes([0xff, 0xef]), "\"h'ffef'\""),
            (.bytes(Array("foobar".utf8)), "\"h'666f6f626172'\""),
            (.tagged(0, "2013-03-21T20:04:00Z"), "\"2013-03-21T20:04:00Z\""),
            (.tagged(1, 1_363_896_240), "1363896240"), (.tagged(55799, .tagged(99, [1])), "[1]"),
            (.tagged(5, [1, 2]), "[1,2]"), (.tagged(2, .bytes([])), "0"),
            (.tagged(2, .bytes([0, 0, 1])), "1"), (.tagged(3, .bytes([])), "-1"),
            (.tagged(2, "text"), "\"text\""), (.tagged(2, .tagged(2, .bytes([7]))), "7"),
            (
                .tagged(37, .bytes([UInt8](0xf0...0xff))), "\"F0F1F2F3-F4F5-F6F7-F8F9-FAFBFCFDFEFF\""
            ),
            (.tagged(37, .bytes([1])), "\"h'01'\""), (.tagged(37, "text"), "\"text\""),
            (.tagged(4, [-2, 27315]), "273.15"), (.tagged(4, [-2, 27300]), "273.0"),
            (.tagged(4, [3, -5]), "-5000.0"), (.tagged(4, [0, 0]), "0.0"), (.tagged(4, [-8, 5]), "5.0e-8"),
            (.tagged(4, [-1, .negative(.max)]), "-1844674407370955161.6"),
            (.tagged(4, [-1, .tagged(3, .bytes([1, 0]))]), "-25.7"), (.tagged(4, [1]), "[1]"),
            (.tagged(4, [1, 2, 3]), "[1,2,3]"), (.tagged(4, ["a", 1]), "[\"a\",1]"),
            (.tagged(4, [.unsigned(.max), 1]), "[18446744073709551615,1]"),
            (.tagged(4, [1, 1.5]), "[1,1.5]"),
            (.tagged(4, 7), "7"), (.tagged(4, [.unsigned(1 << 63 - 1), 25]), "2.5e+9223372036854775808"),
            ([1: 2, -1: 3], "{\"1\":2,\"-1\":3}"), ([.bytes([0xff]): 1], "{\"h'ff'\":1}"),
            ([true: 1, nil: 2], "{\"true\":1,\"null\":2}"), ([[1, "a"]: 1], "{\"[1, \\\"a\\\"]\":1}"),
            ([.tagged(9, [:]): 1], "{\"{}\":1}"), ([1.5: [2: 3]], "{\"1.5\":{\"2\":3}}"),
            ([.tagged(0, "x"): 1], "{\"x\":1}"),
            (.tagged(37, .bytes([UInt8](0...15))), "\"00010203-0405-0607-0809-0A0B0C0D0E0F\""),
            ([.tagged(37, .bytes([UInt8](240...255))): 1], "{\"F0F1F2F3-F4F5-F6F7-F8F9-FAFBFCFDFEFF\":1}"),
            (.tagged(37, .bytes([1])), "\"h'01'\""), (.tagged(37, 5), "5"),
        ] as [(CBORValue, String)])
    func others(value: CBORValue, expected: String) {
        #expect(value.json() == expected)
    }

    @Test(
        "indefinite lengths print like definite ones",
        arguments: [
            ("9fff", "[]"), ("bfff", "{}"), ("9f01bf616102ffff", "[1,{\"a\":2}]"), ("7f61616162ff", "\"ab\""),
            ("5f41ff41efff", "\"h'ffef'\""), ("c45f4101ff", "\"h'01'\""), ("c25f41014100ff", "256"),
            ("c49f2105ff", "0.05"),
            ("c49f210506ff", "[-2,5,6]"), ("c49fff", "[]"), ("bf7f6161ff01ff", "{\"a\":1}"),
        ])
    func indefinite(input: String, expected: String) throws {
        #expect(try JSONPrinter.text(of: bytes(hex: input)) == expected)
    }

    @Test("pretty text has an entry to a line, indented") func pretty() throws {
        let json = #"{"a":[1,{"b":{}},[]],"c":{"d":null,"e":"x"},"f":-1.5}"#
        let expected = """
            {
              "a": [
                1,
                {
                  "b": {}
                },
                []
              ],
              "c": {
                "d": null,
                "e": "x"
              },
              "f": -1.5
            }
            """
        let value = try CBORValue(json: json)
        #expect(value.json(.pretty) == expected)
        #expect(try CBORValue(json: expected) == value)
        #expect(CBORValue.tagged(9, [[1]: 2]).json(.pretty) == "{\n  \"[1]\": 2\n}")
    }

    @Test("an error appends nothing") func rollback() {
        var output = Array("kept".utf8)
        for input in ["82", "8201ff", "a16180", "0000", "a1820102"] {
            _ = bytes(hex: input).withUnsafeBytes { cbor in
                #expect(throws: CBORError.self) { try JSONPrinter.print(cbor, into: &output) }
            }
            #expect(output == Array("kept".utf8))
        }
        [UInt8(0xf5)].withUnsafeBytes { cbor in
            #expect(throws: Never.self) { try JSONPrinter.print(cbor, into: &output) }
        }
        #expect(output == Array("kepttrue".utf8))
    }

    @Test("bignums that are too long to convert print as their bytes") func hugeBignum() {
        let content = [UInt8](repeating: 0xff, count: 6_805)
        #expect(CBORValue.tagged(2, .bytes(content)).json() == CBORValue.bytes(content).json())
        let fits = CBORValue.tagged(2, .bytes(Array(content.dropLast()))).json()
        #expect(fits.utf8.count == 16_386)
        #expect(fits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    }

    @Test(
        "no text prints as bytes, and no two texts print the same",
        arguments: [
            ("h'00'", "\"\\\\h'00'\""), ("h''", "\"\\\\h''\""), ("\\h'00'", "\"\\\\\\\\h'00'\""),
            ("h'0'", "\"h'0'\""), ("h'0G'", "\"h'0G'\""), ("H'00'", "\"H'00'\""), ("h'00' ", "\"h'00' \""),
            ("\\", "\"\\\\\""), ("'", "\"'\""), ("h'", "\"h'\""),
        ])
    func textLikeBytes(text: String, json: String) throws {
        #expect(CBORValue.text(text).json() == json)
        #expect(CBORValue.map([.text(text): 1]).json() == "{\(json):1}")
        let again = try JSONTranscoder.cbor(from: Array(json.utf8), uniqueNames: true, readsBytes: true)
        #expect(try CBORReader.decode(again) == .text(text))
    }

    @Test(
        "bytes are read again as values and as names of members",
        arguments: [[], [0], [0xff, 0x00, 0x9a]] as [[UInt8]])
    func bytesRoundTrip(bytes: [UInt8]) throws {
        let value = CBORValue.map([.bytes(bytes): .array([.bytes(bytes), "a"]), "b": .bytes(bytes)])
        let json = Array(value.json().utf8)
        #expect(try JSONTranscoder.cbor(from: json, uniqueNames: true, readsBytes: true) == value.encoded)
        #expect(try JSONTranscoder.cbor(from: json, uniqueNames: true) != value.encoded)
    }

    @Test(
        "different keys of the same name print in diagnostic notation",
        arguments: [
            ([1: "a", "1": ["x": 1]], "{\"1\":\"a\",\"\\\"1\\\"\":{\"x\":1}}"),
            (["1": "a", 1: "b", .bytes([1]): "c"], "{\"\\\"1\\\"\":\"a\",\"1\":\"b\",\"h'01'\":\"c\"}"),
            ([nil: 1, "null": [2: 3, "2": 4]], "{\"null\":1,\"\\\"null\\\"\":{\"2\":3,\"\\\"2\\\"\":4}}"),
            ([1: "a", "2": ["1": 1]], "{\"1\":\"a\",\"2\":{\"1\":1}}"),
        ] as [(CBORValue, String)])
    func namesOfKeys(value: CBORValue, json: String) {
        #expect(value.json() == json)
    }

}
