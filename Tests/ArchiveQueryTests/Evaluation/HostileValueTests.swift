import ArchiveQuery
import CBOR
import StorageEngine
import TestSupport
import Testing

/// Values that cost their writer little and were to cost their reader much.
@Suite struct HostileValueTests {
    private static let long: [UInt8] = [UInt8](repeating: 0xff, count: 200_000)

    /// Marks that canonical ordering has to sort.
    private static let marks = Array(repeating: "\u{301}\u{323}", count: 100_000).joined()

    /// Values of a property `a`, and what each is.
    private static let items: [(name: String, item: [UInt8])] = [
        ("an array of 2⁶³ − 1", [0x9b, 0x7f] + [UInt8](repeating: 0xff, count: 7)),
        ("bytes of 2⁶³ − 1", [0x5b, 0x7f] + [UInt8](repeating: 0xff, count: 7)),
        ("a map of 2⁶⁴ − 1", [0xbb] + [UInt8](repeating: 0xff, count: 8)),
        (
            "10 to the power of 2⁶³ − 1",
            [0xc4, 0x82, 0x1b, 0x7f] + [UInt8](repeating: 0xff, count: 7) + [0x01]
        ),
        ("10 to the power of −2⁶³", [0xc4, 0x82, 0x3b, 0x7f] + [UInt8](repeating: 0xff, count: 7) + [0x01]),
        ("10 to the power of −2⁶⁴", [0xc4, 0x82, 0x3b] + [UInt8](repeating: 0xff, count: 8) + [0x01]),
        ("2 to the power of 10⁹", [0xc5, 0x82, 0x1a, 0x3b, 0x9a, 0xca, 0x00, 0x01]),
        ("2 to the power of −10⁹", [0xc5, 0x82, 0x3a, 0x3b, 0x9a, 0xca, 0x00, 0x01]),
        ("a number of 200,000 bytes", [0xc2, 0x5a, 0x00, 0x03, 0x0d, 0x40] + long),
        ("a mantissa of 200,000 bytes", [0xc4, 0x82, 0x20, 0xc2, 0x5a, 0x00, 0x03, 0x0d, 0x40] + long),
        ("200,000 tags", [UInt8](repeating: 0xc1, count: 200_000) + [0x01]),
        ("200,000 arrays", [UInt8](repeating: 0x81, count: 200_000) + [0x01]),
        ("200,000 open arrays", [UInt8](repeating: 0x9f, count: 200_000)),
        ("a text of 200,000 marks", [0x7a, 0x00, 0x06, 0x1a, 0x81, 0x61] + Array(marks.utf8)),
        ("a text in 100,000 parts", [0x7f] + [UInt8](repeating: 0x60, count: 100_000) + [0xff]),
    ]

    @Test func whateverIsAskedOfThemEndsSoon() throws {
        var slow: [String] = []
        for (name, item) in HostileValueTests.items {
            let value = [0xa1, 0x61, 0x61] + item
            let source = ListSource([ListSource.Entry(key: "k", value: value)])
            for text in [
                "find a > 1", "find a = 1.5 or a between 1 and 2", "sort a", "sum a", "count group by a",
                "distinct a",
                "select a", "find a matches \"9$\"", "find a contains \"9\"",
                "find a = \"é\" or a < \"b\"", "find a contains \"é\" or a icontains \"É\"",
                "find a in [\"é\", \"b\"]",
            ] {
                let start = processorSeconds()
                for row in try QueryPlan(QueryPipeline(text)).rows(of: source).0 {
                    for item in row.columns + [row.value] {
                        guard let item else { continue }
                        _ = try? JSONPrinter.text(of: item)
                    }
                }
                let took = processorSeconds() - start
                if took > 10 { slow.append("\(name), \(text): \(took) s") }
            }
        }
        #expect(slow == [])
    }
}
