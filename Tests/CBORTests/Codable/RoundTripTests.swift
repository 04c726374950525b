import TestSupport
import CBOR
import Foundation
import Testing

@Suite("Round trips of typed values") struct RoundTripTests {
    @Test("all shapes that Swift makes Codable decode equal, alone and in arrays") func shapes() throws {
        let shapes = Shapes()
        #expect(try roundTrip(shapes) == shapes)
        #expect(try roundTrip([shapes, shapes]) == [shapes, shapes])
        let bytes = try CBOREncoder().encode(shapes)
        #expect(CBORReader.isWellFormed(bytes))
        #expect(try CBORReader.decode(bytes).encoded == bytes, "in preferred serialization")
    }

    @Test("a map has its properties in the order of their keys' encodings") func layout() throws {
        struct Small: Encodable {
            var b = 1
            var a: [String?] = ["x", nil]
            var none: Int?
        }
        #expect(hex(try CBOREncoder().encode(Small())) == "a2" + "616201" + "6161" + "826178f6")
        #expect(
            hex(try CBOREncoder().encode(Figure.circle(center: Point(x: 1, y: 2), radius: 0.5)))
                == "a1" + "66636972636c65" + "a2" + "6663656e746572" + "a2617801617902" + "66726164697573"
                + "f93800")
        #expect(hex(try CBOREncoder().encode(Kind.first)) == "656669727374")
        #expect(hex(try CBOREncoder().encode([2: "b", 1: "a"])) == "a2" + "61316161" + "61326162")
        #expect(
            hex(try CBOREncoder().encode(Dog("d", tricks: []))) == "a2" + "66747269636b7380"
                + "657375706572a1646e616d656164")
    }

    @Test("classes decode equal, with a separate or a shared container of the superclass")
    func classes() throws {
        let dog = try roundTrip(Dog("Rex", tricks: ["sit", "stay"]))
        #expect(dog.name == "Rex")
        #expect(dog.tricks == ["sit", "stay"])
        let cat = Cat(lives: 7)
        cat.name = "Tom"
        let same = try roundTrip(cat)
        #expect(same.name == "Tom")
        #expect(same.lives == 7)
    }

    @Test("containers of 23, 24, 255, 256 and 65,536 items and entries decode equal") func counts() throws {
        for count in [0, 1, 23, 24, 255, 256, 65_536] {
            let points = (0..<count).map { Point(x: $0, y: -$0) }
            #expect(try roundTrip(points) == points)
            let map = Dictionary(uniqueKeysWithValues: points.map { ("key \($0.x)", $0.y) })
            #expect(try roundTrip(map) == map)
            #expect(CBORReader.isWellFormed(try CBOREncoder().encode([points])))
        }
    }

    @Test("texts of all lengths and planes decode equal") func texts() throws {
        var generator = SeededGenerator.announced("codec texts")
        for _ in 0..<500 {
            let texts = [CBORValue.randomText(using: &generator), CBORValue.randomText(using: &generator)]
            #expect(try roundTrip(texts).map { Array($0.utf8) } == texts.map { Array($0.utf8) })
        }
        let long = String(repeating: "é漢😀\0", count: 300_000)
        #expect(try roundTrip(["k": long]) == ["k": long])
    }

    @Test("random trees decode equal, and equal to those of JSON") func trees() throws {
        var generator = SeededGenerator.announced("codec trees")
        for _ in 0..<60 {
            let node = Node.random(depth: 3, using: &generator)
            #expect(try roundTrip(node) == node)
            let json = try JSONDecoder().decode(Node.self, from: JSONEncoder().encode(node))
            #expect(try roundTrip(node) == json)
        }
    }

    @Test("alternating writes to nested containers don't change the encoding") func interleaved() throws {
        struct Turns: Encodable {
            enum Keys: CodingKey { case list, map, after }
            func encode(to encoder: any Encoder) throws {
                var root = encoder.container(keyedBy: Keys.self)
                var list = root.nestedUnkeyedContainer(forKey: .list)
                var map = root.nestedContainer(keyedBy: Keys.self, forKey: .map)
                try list.encode(1)
                try map.encode("m", forKey: .after)
                try root.encode(true, forKey: .after)
                var inner = list.nestedUnkeyedContainer()
                try list.encode(2)
                try inner.encode(3)
                _ = map.nestedContainer(keyedBy: Keys.self, forKey: .list)
            }
        }
        #expect(
            hex(try CBOREncoder().encode(Turns()))
                == "a3" + "646c697374" + "83018103" + "02" + "636d6170"
                + "a2" + "656166746572616d" + "646c697374a0" + "656166746572f5")
        #expect(
            try CBOREncoder().encode([Turns(), Turns()]).count == 1 + 2 * CBOREncoder().encode(Turns()).count)
    }

    @Test("nested containers are read alternately, and keys in any order") func alternateReads() throws {
        struct Turns: Decodable {
            enum Keys: CodingKey { case a, b, c, d }
            var sum = 0
            init(from decoder: any Decoder) throws {
                let root = try decoder.container(keyedBy: Keys.self)
                var list = try root.nestedUnkeyedContainer(forKey: .b)
                let map = try root.nestedContainer(keyedBy: Keys.self, forKey: .c)
                sum += try list.decode(Int.self)
                sum += try map.decode(Int.self, forKey: .a)
                sum += try root.decode(Int.self, forKey: .d)
                sum += try list.decode(Int.self)
                #expect(list.isAtEnd)
                sum += try root.decode(Int.self, forKey: .a)
                #expect(try root.decodeIfPresent([Int].self, forKey: .b) == [2, 3])
                #expect(try root.decodeNil(forKey: .a) == false)
                #expect(root.contains(.c))
            }
        }
        let bytes = bytes(hex: "a4616101" + "6162820203" + "6163a2617a00616104" + "616405")
        #expect(try CBORDecoder().decode(Turns.self, from: bytes).sum == 15)
        #expect(try CBORDecoder().decode([Turns].self, from: [0x82] + bytes + bytes).map(\.sum) == [15, 15])
    }

    @Test("userInfo reaches types at every depth") func userInfo() throws {
        struct Asks: Codable {
            static let key = CodingUserInfoKey(rawValue: "asked")!
            var answer: Int
            init() { answer = 0 }
            init(from decoder: any Decoder) throws { answer = decoder.userInfo[Asks.key] as? Int ?? -1 }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(encoder.userInfo[Asks.key] as? Int ?? -1)
            }
        }
        var encoder = CBOREncoder()
        encoder.userInfo = [Asks.key: 7]
        #expect(try encoder.encode([Asks()]) == [0x81, 7])
        var decoder = CBORDecoder()
        decoder.userInfo = [Asks.key: 8]
        #expect(try decoder.decode([Asks].self, from: [0x81, 7]).map(\.answer) == [8])
    }

    @Test("a writer appends an encoding") func writer() throws {
        var writer = CBORWriter()
        writer.beginArray(count: 2)
        try CBOREncoder().encode(1, into: &writer)
        try CBOREncoder().encode("a", into: &writer)
        #expect(hex(writer.bytes) == "82016161")
    }
}
