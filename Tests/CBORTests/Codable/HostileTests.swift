import TestSupport
import CBOR
import Foundation
import Testing

@Suite("Hostile bytes") struct HostileTests {
    private struct List: Codable { var next: [List] }

    private func cborReason<Value: Decodable>(_ type: Value.Type, _ input: [UInt8]) -> CBORError.Reason? {
        do {
            _ = try CBORDecoder().decode(type, from: input)
        } catch DecodingError.dataCorrupted(let context) {
            return (context.underlyingError as? CBORError)?.reason
        } catch {}
        return nil
    }

    @Test("refuses trailing, absent and reserved bytes") func ends() {
        #expect(cborReason(Int.self, [1, 2]) == .trailingBytes(count: 1))
        #expect(cborReason(Point.self, bytes(hex: "a2617801617902f6")) == .trailingBytes(count: 1))
        #expect(cborReason(Int.self, []) == .truncated)
        #expect(cborReason(Point.self, []) == .truncated)
        #expect(cborReason(String.self, [0x62, 0x61]) == .lengthExceedsInput(claimed: 2))
        #expect(cborReason(String.self, [0x62, 0xc3, 0x28]) == .invalidUTF8)
        #expect(cborReason([Int].self, [0x9f, 1]) == .truncated)
        #expect(cborReason(Int.self, [0x1c]) == .reservedAdditionalInformation(28))
        #expect(cborReason([Point].self, [0x9f]) == .truncated)
        #expect(cborReason([String: Int].self, [0xbf, 0x61, 0x61, 0xff]) != nil)
        // Values that the type doesn't decode are checked as well.
        #expect(
            cborReason(Point.self, bytes(hex: "a361780161790261" + "7a1c"))
                == .reservedAdditionalInformation(28))
    }

    @Test("refuses counts and lengths beyond the input") func counts() {
        for head: [UInt8] in [[0x9b], [0xbb], [0x5b], [0x7b]] {
            for claimed: UInt64 in [.max, 1 << 62, 1 << 32, 100] {
                let input = head + withUnsafeBytes(of: claimed.bigEndian) { Array($0) }
                #expect(cborReason([Int].self, input) != nil || head != [0x9b])
                #expect(throws: DecodingError.self) { try CBORDecoder().decode([String].self, from: input) }
                #expect(throws: DecodingError.self) { try CBORDecoder().decode([Point].self, from: input) }
                #expect(throws: DecodingError.self) {
                    try CBORDecoder().decode([String: Int].self, from: input)
                }
                #expect(throws: DecodingError.self) { try CBORDecoder().decode(Data.self, from: input) }
                #expect(throws: DecodingError.self) { try CBORDecoder().decode(String.self, from: input) }
            }
        }
    }

    @Test("reads nesting up to the limit, and refuses a million levels") func depth() throws {
        var list = List(next: [])
        // Each List is a map and an array; both count.
        for _ in 0..<126 { list = List(next: [list]) }
        let encoding = try CBOREncoder().encode(list)
        #expect(throws: Never.self) { try CBORDecoder().decode(List.self, from: encoding) }
        for _ in 0..<10 { list = List(next: [list]) }
        #expect(throws: EncodingError.self) { try CBOREncoder().encode(list) }
        let unit = encoding.prefix(7)
        let endless = (0..<200_000).flatMap { _ in unit }
        #expect(cborReason(List.self, endless) == .nestingTooDeep(limit: CBORDecoder.defaultMaximumDepth))
        // Deep in a value that the type doesn't decode.
        let unread = [0xa3] + [UInt8](repeating: 0x81, count: 1_000_000)
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Point.self, from: Array(unread)) }
        let tags = [UInt8](repeating: 0xc9, count: 1_000_000) + [5]
        #expect(try CBORDecoder().decode(Int.self, from: tags) == 5)
        var shallow = CBORDecoder()
        shallow.maximumDepth = 3
        #expect(
            try shallow.decode([[Point]].self, from: bytes(hex: "8181a2617801617902")) == [
                [Point(x: 1, y: 2)]
            ])
        #expect(throws: DecodingError.self) {
            try shallow.decode([[[Point]]].self, from: bytes(hex: "818181a2617801617902"))
        }
        #expect(throws: DecodingError.self) { try shallow.decode(List.self, from: encoding) }
    }

    /// 512 KB are the smallest stack of threads other than the first (macOS, optimized). Debug builds take several times as
    /// much.
    @Test("nesting up to the limit fits into the stack of a thread") func stack() async throws {
        #if DEBUG
        let stackSize = 2 << 20
        #else
        let stackSize = 512 << 10
        #endif
        let outcome: Bool = await withCheckedContinuation { continuation in
            let thread = Thread {
                var list = List(next: [])
                for _ in 0..<126 { list = List(next: [list]) }
                var node = Node.null
                for level in 0..<60 { node = level % 2 == 0 ? .list([node]) : .object(["k": node]) }
                do {
                    let isSame = try roundTrip(node) == node
                    let encoding = try CBOREncoder().encode(list)
                    let again = try CBOREncoder().encode(CBORDecoder().decode(List.self, from: encoding))
                    continuation.resume(returning: isSame && again == encoding)
                } catch {
                    continuation.resume(returning: false)
                }
            }
            thread.stackSize = stackSize
            thread.start()
        }
        #expect(outcome)
    }

    /// The table of keys is built after a thousand steps, and must not bypass the check for equal keys.
    @Test("the first of equal keys counts, in large maps too") func duplicatesInLargeMaps() throws {
        struct Asks: Decodable {
            var isRight = true
            init(from decoder: any Decoder) throws {
                let map = try decoder.container(keyedBy: NumberKey.self)
                var generator = SeededGenerator.announced("codec equal keys")
                for _ in 0..<5_000 {
                    let number = Int.random(in: 0..<300, using: &generator)
                    for number in number..<min(number + 3, 300) {
                        isRight = try map.decode(Int.self, forKey: NumberKey(number)) == number && isRight
                    }
                }
            }
        }
        var map = CBORMap()
        for number in 0..<300 { map.append(key: .text("\(number)"), value: .unsigned(UInt64(number))) }
        for number in (0..<300).reversed() { map.append(key: .text("\(number)"), value: 999) }
        for number in 0..<300 { map.append(key: .text("\(number)"), value: 999) }
        #expect(try CBORDecoder().decode(Asks.self, from: CBORValue.map(map).encoded).isRight)
        let read = try CBORDecoder().decode([Int: Int].self, from: CBORValue.map(map).encoded)
        #expect(read == Dictionary(uniqueKeysWithValues: (0..<300).map { ($0, $0) }))
    }

    private struct NumberKey: CodingKey {
        let number: Int
        init(_ number: Int) { self.number = number }
        init?(stringValue: String) { number = Int(stringValue) ?? 0 }
        init?(intValue: Int) { number = intValue }
        var stringValue: String { "\(number)" }
        var intValue: Int? { number }
    }

    @Test("stops a type that decodes itself endlessly") func endlessType() {
        struct Endless: Decodable {
            init(from decoder: any Decoder) throws {
                self = try decoder.singleValueContainer().decode(Endless.self)
            }
        }
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Endless.self, from: [1]) }
    }

    @Test("the first of equal keys counts, in any order of decoding") func duplicates() throws {
        struct Asks: Decodable {
            enum Keys: String, CodingKey { case a, b }
            var values: [Int]
            init(from decoder: any Decoder) throws {
                let map = try decoder.container(keyedBy: Keys.self)
                let order = decoder.userInfo[CodingUserInfoKey(rawValue: "order")!] as? String ?? ""
                values = try order.map { try map.decode(Int.self, forKey: $0 == "a" ? .a : .b) }
            }
        }
        let input = bytes(hex: "a5" + "616101" + "616102" + "616203" + "616104" + "616205")
        for order in ["a", "b", "ab", "ba", "aa", "bb", "aab", "abab", "bbaa", "baab", "aaabbb"] {
            var decoder = CBORDecoder()
            decoder.userInfo = [CodingUserInfoKey(rawValue: "order")!: order]
            #expect(
                try decoder.decode(Asks.self, from: input).values == order.map { $0 == "a" ? 1 : 3 },
                "\(order)")
        }
        #expect(try CBORDecoder().decode([String: Int].self, from: input) == ["a": 1, "b": 3])
    }

    @Test("decoding a large map's keys in reverse, or absent keys, isn't quadratic") func largeMaps() throws {
        struct Backwards: Decodable {
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            var sum = 0
            init(from decoder: any Decoder) throws {
                let map = try decoder.container(keyedBy: Key.self)
                for number in (0..<100_000).reversed() {
                    sum += try map.decode(Int.self, forKey: Key(stringValue: "k\(number)"))
                    if map.contains(Key(stringValue: "missing \(number)")) { sum += 1_000_000 }
                }
            }
        }
        var map = CBORMap()
        for number in 0..<100_000 { map.append(key: .text("k\(number)"), value: 1) }
        let start = processorSeconds()
        #expect(try CBORDecoder().decode(Backwards.self, from: CBORValue.map(map).encoded).sum == 100_000)
        let numbers = try CBORDecoder().decode(
            [Int: Int].self,
            from: CBORValue.map(CBORMap((0..<100_000).map { .init(key: .unsigned($0), value: 2) })).encoded)
        #expect(numbers.count == 100_000)
        #expect(processorSeconds() - start < 30)
    }

    @Test("a decoder that was stored throws") func keptDecoder() throws {
        struct Keeper: Decodable {
            let decoder: any Decoder
            init(from decoder: any Decoder) throws { self.decoder = decoder }
        }
        let keeper = try CBORDecoder().decode([Keeper].self, from: bytes(hex: "81a2617801617902"))[0]
        #expect(throws: DecodingError.self) { try Point(from: keeper.decoder) }
        #expect(throws: DecodingError.self) { try String(from: keeper.decoder) }
        #expect(throws: DecodingError.self) { try [Int](from: keeper.decoder) }
    }

    @Test("changed encodings give values or errors, never a trap") func mutations() throws {
        var generator = SeededGenerator.announced("codec mutations")
        let seeds = [
            try CBOREncoder().encode(Shapes()), try CBOREncoder().encode([Shapes(), Shapes()]),
            try CBOREncoder().encode(Dog("Rex", tricks: ["sit"])),
            try CBOREncoder().encode(Node.random(depth: 3, using: &generator)),
        ]
        var values = 0
        var errors = 0
        func feed<Value: Decodable>(_ type: Value.Type, _ input: [UInt8]) throws {
            do {
                _ = try CBORDecoder().decode(type, from: input)
                values += 1
            } catch is DecodingError {
                errors += 1
            }
        }
        for _ in 0..<3_000 {
            var input = seeds[Int.random(in: 0..<seeds.count, using: &generator)]
            for _ in 0..<Int.random(in: 1...4, using: &generator) where !input.isEmpty {
                let place = Int.random(in: 0..<input.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: input[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: input.remove(at: place)
                case 2: input.insert(UInt8.random(in: 0...255, using: &generator), at: place)
                default: input.removeSubrange(place...)
                }
            }
            try feed(Shapes.self, input)
            try feed([Shapes].self, input)
            try feed(Dog.self, input)
            try feed(Node.self, input)
            try feed([String: Node].self, input)
        }
        #expect(values > 0)
        #expect(errors > 1_000)
    }
}
