import TestSupport
import CBOR
import Foundation
import Testing

@Suite("Equal values have equal encodings") struct DeterminismTests {
    /// Delegates to a dictionary's own coding instead of the encoder's generic functions.
    private struct Wrapped: Encodable {
        var content: [String: Int]
        func encode(to encoder: any Encoder) throws { try content.encode(to: encoder) }
    }

    @Test("dictionaries and sets encode alike, whatever the order of insertion")
    func insertionOrders() throws {
        var generator = SeededGenerator.announced("codec determinism")
        for count in [2, 5, 30, 300] {
            let names = (0..<count).map { "\($0 * 7919)" }
            func encodings() throws -> [[UInt8]] {
                let order = names.shuffled(using: &generator)
                var byText: [String: Int] = [:]
                var byNumber: [Int: String] = [:]
                var byPoint: [Point: [Int: Int]] = [:]
                // Removed later: removed entries change the order of a dictionary.
                for name in order { byText[name + "x"] = 0 }
                for name in order { byText[name + "x"] = nil }
                for name in order {
                    byText[name] = name.count
                    byNumber[Int(name)!] = name
                    byPoint[Point(x: Int(name)!, y: 0)] = [Int(name)!: 1, 2: 2, 3: 3]
                }
                let encoder = CBOREncoder()
                return [
                    try encoder.encode(byText), try encoder.encode(byNumber), try encoder.encode(byPoint),
                    try encoder.encode(Set(order)), try encoder.encode([["k": Set(byPoint.keys)]]),
                    try encoder.encode([Wrapped(content: byText)]),
                ]
            }
            let first = try encodings()
            for _ in 0..<10 { #expect(try encodings() == first) }
        }
    }

    @Test("keys are in the order of their encodings, shorter ones first") func order() throws {
        #expect(
            hex(try CBOREncoder().encode(["b": 1, "aa": 2, "a": 3, "": 4]))
                == "a4" + "6004" + "616103" + "616201" + "62616102")
        #expect(hex(try CBOREncoder().encode(Set([100, 10, -1, 0]))) == "84" + "00" + "0a" + "1864" + "20")
        #expect(
            hex(try CBOREncoder().encode([Point(x: 2, y: 1): "b", Point(x: 1, y: 1): "a"]))
                == "84" + "a2617801617901" + "6161" + "a2617802617901" + "6162")
    }

    @Test("equal values encode alike") func twice() throws {
        #expect(try CBOREncoder().encode(Shapes()) == CBOREncoder().encode(Shapes()))
    }

    @Test("equal decimals encode alike, whatever their internal form") func decimals() throws {
        #expect(Decimal(string: "1.50") == Decimal(string: "1.5"))
        #expect(
            try CBOREncoder().encode(Decimal(string: "1.50")) == CBOREncoder().encode(Decimal(string: "1.5")))
        #expect(try CBOREncoder().encode(Decimal(100)) == CBOREncoder().encode(Decimal(string: "1e2")))
    }
}
