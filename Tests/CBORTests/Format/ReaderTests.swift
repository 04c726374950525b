import CBOR
import Testing

@Suite("Reader") struct ReaderTests {
    private static let record: CBORValue = [
        "name": "Qarchak", 7: [1, 2, ["deep": .bytes([1])]], "tagged": .tagged(1, 1.5), "id": 32767, "id": 2,
    ]

    @Test("reads a sequence item by item, and skips to the same positions") func sequence() throws {
        let items: [CBORValue] = [1, "two", [3, [4]], ["five": 6], .tagged(7, .bytes([8])), nil]
        let input = items.flatMap(\.encoded)
        try input.withUnsafeBytes { bytes in
            var reader = CBORReader(bytes)
            var skipper = CBORReader(bytes)
            for item in items {
                #expect(!reader.isAtEnd)
                let value = try reader.readValue()
                #expect(value == item)
                try skipper.skipItem()
                #expect(skipper.offset == reader.offset)
            }
            #expect(reader.isAtEnd)
            #expect(reader.remaining == 0)
            #expect(throws: CBORError(offset: input.count, reason: .truncated)) { try reader.readValue() }
        }
    }

    @Test("reads the parts of an item one by one") func heads() throws {
        try bytes(hex: "a2616101626262bf187f9fffff").withUnsafeBytes { input in
            var reader = CBORReader(input)
            try Self.expect(.map(count: 2), from: &reader)
            try Self.expect(.text(count: 1), from: &reader)
            let content = try reader.readContent(count: 1)
            #expect(Array(content) == [0x61])
            try Self.expect(.unsigned(1), from: &reader)
            try Self.expect(.text(count: 2), from: &reader)
            let text = try reader.readText(count: 2)
            #expect(text == "bb")
            try Self.expect(.map(count: nil), from: &reader)
            #expect(Self.breaks(&reader) == 0)
            try Self.expect(.unsigned(127), from: &reader)
            try Self.expect(.array(count: nil), from: &reader)
            #expect(Self.breaks(&reader) == 2)
            try reader.expectEnd()
            #expect(throws: CBORError.self) { try reader.readContent(count: 1) }
        }
    }

    private static func expect(_ expected: CBORHead, from reader: inout CBORReader) throws {
        let head = try reader.readHead()
        #expect(head == expected)
    }

    private static func breaks(_ reader: inout CBORReader) -> Int {
        var count = 0
        while reader.readBreak() { count += 1 }
        return count
    }

    @Test(
        "enters a map at a key",
        arguments: [("name", "Qarchak"), ("tagged", .tagged(1, 1.5)), ("id", 32767)] as [(String, CBORValue)])
    func enterMap(key: String, value: CBORValue) throws {
        let indefinite = [0xbf] + Self.record.encoded.dropFirst() + [0xff]
        for input in [Self.record.encoded, indefinite] {
            try input.withUnsafeBytes { bytes in
                var reader = CBORReader(bytes)
                let found = try reader.enterMap(atKey: key)
                #expect(found)
                let entered = try reader.readValue()
                #expect(entered == value)
            }
        }
    }

    @Test("without the key, or without a map, the reader is after the item")
    func enterMapWithoutKey() throws {
        let indefinite = [0xbf] + Self.record.encoded.dropFirst() + [0xff]
        let text: CBORValue = "deep"
        for input in [Self.record.encoded, indefinite, [0xa0], [0xbf, 0xff], text.encoded] {
            try (input + [0xf6]).withUnsafeBytes { bytes in
                var reader = CBORReader(bytes)
                let found = try reader.enterMap(atKey: "deep")
                #expect(!found)
                #expect(reader.offset == input.count)
            }
        }
        bytes(hex: "bf00ff").withUnsafeBytes { input in
            var reader = CBORReader(input)
            #expect(throws: CBORError(offset: 2, reason: .keyWithoutValue)) {
                try reader.enterMap(atKey: "a")
            }
        }
    }

    @Test("skipping checks the UTF-8 of texts only on request") func skipText() throws {
        for input in ["6180", "7f6180ff"] {
            try bytes(hex: input).withUnsafeBytes { input in
                var reader = CBORReader(input)
                try reader.skipItem()
                #expect(reader.isAtEnd)
                var checker = CBORReader(input)
                #expect(throws: CBORError.self) { try checker.skipItem(checkingText: true) }
            }
        }
    }

    @Test(
        "heads longer than needed are read and written short",
        arguments: [
            ("1801", "01"), ("190001", "01"), ("1b0000000000000001", "01"), ("380a", "2a"),
            ("590001ff", "41ff"),
            ("7a0000000161", "6161"), ("990000", "80"), ("b90001f4f5", "a1f4f5"), ("d90001f6", "c1f6"),
        ])
    func longHeads(long: String, short: String) throws {
        #expect(hex(try CBORReader.decode(bytes(hex: long)).encoded) == short)
    }
}
