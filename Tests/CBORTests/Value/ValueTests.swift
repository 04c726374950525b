import CBOR
import Testing

@Suite("Values") struct ValueTests {
    @Test("values with equal encodings are equal") func equality() {
        let values: [CBORValue] = [
            0, -1, 1, 1.0, 0.0, .float(-0.0), .float(.nan), .float(.signalingNaN), "\u{e9}", "e\u{301}", "",
            .bytes([]), [], [:], [0], [0: 0], [0: 0, 1: 1], [1: 1, 0: 0], [0: 0, 0: 0], true, false, nil,
            .undefined, .tagged(0, 0), .tagged(1, 0), .simple(CBORSimpleValue(rawValue: 0)!),
            .simple(CBORSimpleValue(rawValue: 255)!), .negative(.max), .unsigned(.max),
        ]
        for left in values {
            for right in values {
                #expect((left == right) == (left.encoded == right.encoded))
            }
        }
        #expect(Set(values + values).count == values.count)
    }

    @Test("accessors return exact values, and nil for others") func accessors() {
        #expect(CBORValue.unsigned(1 << 63).asInt64 == nil)
        #expect(CBORValue.negative(1 << 63).asInt64 == nil)
        #expect(CBORValue.negative(1 << 63 - 1).asInt64 == .min)
        #expect(CBORValue.unsigned(.max).asUInt64 == .max)
        #expect(CBORValue(integer: -1).asUInt64 == nil)
        #expect((1.0 as CBORValue).asInt64 == nil)
        #expect((3 as CBORValue).asDouble == 3)
        #expect(CBORValue.unsigned(1 << 53 + 1).asDouble == nil)
        #expect(CBORValue.negative(.max).asDouble == -0x1p64)
        #expect(CBORValue.negative(.max - 1).asDouble == nil)
        #expect((-5 as CBORValue).asDouble == -5)
        #expect(("3" as CBORValue).asDouble == nil)
        #expect(("a" as CBORValue).asString == "a")
        #expect(CBORValue.bytes([1]).asBytes == [1])
        #expect((true as CBORValue).asBool == true)
        #expect(([1] as CBORValue).asArray == [1])
        #expect(([1: 2] as CBORValue).asMap == [1: 2])
        #expect((nil as CBORValue).isNull)
        #expect(!CBORValue.undefined.isNull)
        let others: [CBORValue] = [nil, .undefined, [], .float(1)]
        for value in others {
            #expect(
                value.asString == nil && value.asBytes == nil && value.asBool == nil && value.asMap == nil)
        }
    }

    @Test("looks up entries by key and by position") func lookUps() {
        let value: CBORValue = ["list": [10, 20], "e\u{301}": 1, "\u{e9}": 2, "list": 3, 4: 5]
        #expect(value["list"]?[1] == 20)
        #expect(value["list"]?[2] == nil)
        #expect(value["list"]?[-1] == nil)
        #expect(value["\u{e9}"] == 2)
        #expect(value["missing"] == nil)
        #expect(value[0] == nil)
        #expect((1 as CBORValue)["list"] == nil)
        #expect(value.asMap?[key: 4] == 5)
        #expect(value.asMap?[4].key == 4)
    }

    @Test("a changed map keeps its order") func maps() {
        var map: CBORMap = ["a": 1, "b": 2, "a": 3]
        map[key: "a"] = 9
        map[key: "c"] = 4
        #expect(map == ["a": 9, "b": 2, "a": 3, "c": 4])
        map[key: "a"] = .none
        #expect(map == ["b": 2, "c": 4])
        map.append(key: "b", value: nil)
        #expect(map.map(\.key) == ["b", "c", "b"])
        #expect(map.last?.value == .null)
    }

    @Test("simple values with another encoding don't exist") func simpleValues() {
        for number: UInt8 in 0...255 {
            #expect((CBORSimpleValue(rawValue: number) == nil) == (20..<32).contains(number))
        }
    }
}
