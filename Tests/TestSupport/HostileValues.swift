/// Values of any size that are cheap to create, and that try to be expensive to read.
package struct HostileValue: Sendable {
    package let name: String
    package let bytes: [UInt8]
    /// The encoding number in a frame: 0 unknown, 1 CBOR, 2 JSON, 3 property list, 4 text.
    package let encoding: UInt8

    private init(_ name: String, _ bytes: [UInt8], _ encoding: UInt8) {
        (self.name, self.bytes, self.encoding) = (name, bytes, encoding)
    }

    /// One of each kind; those with a variable size have about `size` bytes.
    package static func all(size: Int) -> [HostileValue] {
        cbor(size: size).map { HostileValue("CBOR: " + $0, [0xa1, 0x61, 0x61] + $1, 1) }
            + json(size: size).map { HostileValue("JSON: " + $0, Array("{\"a\":\($1)}".utf8), 2) }
            + json(size: size).map { HostileValue("JSON, unmarked: " + $0, Array($1.utf8), 0) }
            + propertyLists(size: size).map { HostileValue("property list: " + $0, $1, 3) }
    }

    /// The value with some bytes changed, and possibly cut off.
    package func mutated(_ random: inout SeededGenerator) -> HostileValue {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...8, using: &random) where !bytes.isEmpty {
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
        }
        return HostileValue(name + ", mutated", bytes, encoding)
    }

    // MARK: CBOR

    private static func length(_ count: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
    }

    private static func cbor(size: Int) -> [(String, [UInt8])] {
        func many(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: size) }
        let most: [UInt8] = [0x7f] + [UInt8](repeating: 0xff, count: 7)
        let marks = Array(String(repeating: "\u{301}\u{323}", count: size / 4).utf8)
        let text = [0x61] + marks
        return [
            ("an array of 2⁶³ − 1", [0x9b] + most), ("bytes of 2⁶³ − 1", [0x5b] + most),
            ("a map of 2⁶⁴ − 1", [0xbb] + [UInt8](repeating: 0xff, count: 8)),
            ("10 to the power of 2⁶³ − 1", [0xc4, 0x82, 0x1b] + most + [0x01]),
            ("10 to the power of −2⁶³", [0xc4, 0x82, 0x3b] + most + [0x01]),
            (
                "10 to the power of −2⁶⁴",
                [0xc4, 0x82, 0x3b] + [UInt8](repeating: 0xff, count: 8) + [0x01]
            ),
            ("2 to the power of 10⁹", [0xc5, 0x82, 0x1a, 0x3b, 0x9a, 0xca, 0x00, 0x01]),
            ("2 to the power of −10⁹", [0xc5, 0x82, 0x3a, 0x3b, 0x9a, 0xca, 0x00, 0x01]),
            ("a number of many bytes", [0xc2, 0x5a] + length(size) + many(0xff)),
            ("a mantissa of many bytes", [0xc4, 0x82, 0x20, 0xc2, 0x5a] + length(size) + many(0xff)),
            ("many tags", many(0xc1) + [0x01]), ("many arrays", many(0x81) + [0x01]),
            ("many open arrays", many(0x9f)),
            ("a text of many marks", [0x7a] + length(text.count) + text),
            ("a text in many parts", [0x7f] + many(0x60) + [0xff]),
            ("bytes in many parts", [0x5f] + many(0x40) + [0xff]),
            ("an array of many empty arrays", [0x9f] + many(0x80) + [0xff]),
            (
                "a map of one key many times",
                [0xbf] + (0..<size / 3).flatMap { _ in [0x61, 0x6b, 0x01] } + [0xff]
            ),
            (
                "a map with keys of marks",
                [0xbf] + [0x7a] + length(marks.count) + marks + [0x01, 0x7a] + length(text.count) + text
                    + [0x01, 0xff]
            ),
        ]
    }

    // MARK: JSON

    private static func json(size: Int) -> [(String, String)] {
        func many(_ text: String) -> String { String(repeating: text, count: max(1, size / text.utf8.count)) }
        return [
            ("open arrays", many("[")), ("open objects", many("{\"a\":")),
            (
                "nested arrays",
                String(repeating: "[", count: size / 2) + String(repeating: "]", count: size / 2)
            ),
            ("a long number", many("7")), ("a long fraction", "0." + many("3")),
            ("a large exponent", "1e" + many("9")), ("a small exponent", "1e-" + many("9")),
            ("a text of escapes", "\"" + many("\\u0301\\u0323") + "\""),
            ("a text of half pairs", "\"" + many("\\ud800") + "\""),
            ("many small numbers", "[" + many("1,") + "1]"), ("many blanks", "[" + many(" ") + "1]"),
            ("one key many times", "{" + many("\"k\":1,") + "\"k\":1}"),
        ]
    }

    // MARK: Property lists

    /// Arrays of `width` references to the next array, `levels` deep: `width` to the power of `levels` items when
    /// expanded.
    private static func bomb(levels: Int, width: Int) -> [UInt8] {
        var list = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for level in 0..<levels {
            offsets.append(UInt8(list.count))
            list += [0xa0 | UInt8(width)] + [UInt8](repeating: UInt8(level + 1), count: width)
        }
        offsets.append(UInt8(list.count))
        list += [0x51, 0x61]
        let table = UInt8(list.count)
        return list + offsets + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, UInt8(levels + 1)]
            + [UInt8](repeating: 0, count: 8) + [0, 0, 0, 0, 0, 0, 0, table]
    }

    private static func propertyLists(size: Int) -> [(String, [UInt8])] {
        func xml(_ content: String) -> [UInt8] {
            Array("<?xml version=\"1.0\"?><plist version=\"1.0\">\(content)</plist>".utf8)
        }
        func many(_ text: String) -> String { String(repeating: text, count: max(1, size / text.utf8.count)) }
        let marks = many("&#x301;&#803;")
        return [
            ("twos that expand", bomb(levels: 25, width: 2)), ("a wide one", bomb(levels: 12, width: 14)),
            ("threes", bomb(levels: 20, width: 3)), ("deep XML", xml(many("<array>") + many("</array>"))),
            ("open XML", xml(many("<dict><key>a</key>"))),
            ("a key of marks", xml("<dict><key>a\(marks)</key><true/></dict>")),
            ("many parts", xml("<array>" + many("<true/>") + "</array>")),
            ("entities", xml("<string>" + many("&amp;") + "</string>")),
            ("an old one of marks", Array("{\"a\(many("\\U0301\\U0323"))\" = 1;}".utf8)),
            ("an old one of many parts", Array("(\(many("1,"))1)".utf8)),
            ("an old one, open", Array(many("(").utf8)),
        ]
    }
}
