import CBOR
import Testing

@Suite("Repeated names") struct RepeatedNameTests {
    private func repeats(_ item: [UInt8]) -> Bool { item.withUnsafeBytes { CBORReader.repeatsName($0) } }

    @Test(
        "repeated names are found in maps of every length and depth",
        arguments: [
            [0xa2, 0x61, 0x61, 1, 0x61, 0x61, 2],
            [0x81, 0xa1, 0x61, 0x62, 0xa2, 0x61, 0x61, 1, 0x61, 0x61, 2],
            [0xbf, 0x61, 0x61, 1, 0x61, 0x61, 2, 0xff], [0xc1, 0xa2, 0x61, 0x61, 1, 0x61, 0x61, 2],
            [0xa2, 0x61, 0x61, 1, 0x78, 1, 0x61, 2],
        ] as [[UInt8]])
    func found(item: [UInt8]) { #expect(repeats(item)) }

    @Test(
        "only texts in one map are repeated names",
        arguments: [
            [0xa2, 0x61, 0x61, 1, 0x61, 0x62, 2], [0x82, 0xa1, 0x61, 0x61, 1, 0xa1, 0x61, 0x61, 2],
            [0xa1, 0x61, 0x61, 0xa1, 0x61, 0x61, 1], [0xa2, 0x61, 0x61, 1, 0x41, 0x61, 2], [0x01], [],
            [0xa2, 0x61],
        ] as [[UInt8]])
    func absent(item: [UInt8]) { #expect(!repeats(item)) }

    @Test(
        "repeated names are found in JSON text, even if escaped differently",
        arguments: [
            (#"{"a":1,"a":2}"#, true), (#"[{"b":{"a":1,"\u0061":2}}]"#, true),
            (#"{"b":{"c":1},"a":[{"a":1},{"a":2}],"b":3}"#, true), (#"{"a":{"a":1},"b":{"a":1}}"#, false),
            (#"[{"a":1},{"a":1}]"#, false), (#"{"a":1,"a"#, false), (#""a""#, false), ("", false),
        ])
    func foundInJSON(text: String, repeats: Bool) {
        #expect(Array(text.utf8).withUnsafeBytes { $0.repeatsJSONName } == repeats)
    }

    @Test("repeated names are found among thousands") func many() {
        let names = (0..<5000).map { "name \($0)" }
        func map(_ names: [String]) -> [UInt8] {
            var writer = CBORWriter()
            writer.beginMap(count: names.count)
            for name in names {
                writer.write(name)
                writer.write(true)
            }
            return writer.bytes
        }
        #expect(!repeats(map(names)) && repeats(map(names + ["name 7"])))
    }
}
