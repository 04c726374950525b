import CBOR
import Foundation
import Nest
import StorageEngine
import TestSupport
import Testing

/// Types with many substitutions in their mangled names, or letters that are operators elsewhere.
struct Pair<First: Codable, Second: Codable>: Codable {
    var first: First
    var second: Second
}
struct GGGGGGGGGGGGGGGGGGGG: Codable, Hashable { var a = 1 }
extension Pair {
    struct Inner: Codable { var a = 1 }
}
struct Several<each Part>: Codable { var a = 1 }

/// Collections that aren't `Codable`, and hostile forms of them.
@Suite struct ItemFormTests {
    private let place = Place()

    /// Adds the item, and returns the item that another nest reads.
    private func stored(_ item: Any, _ key: String = "k") throws -> Any {
        let nest = place.nest()
        nest.add(item, key, .never, .long)
        try #require(nest.isPersisted(key), "\(key): \(nest.problem(with: key) ?? "")")
        let again = place.nest()
        return try #require(again[key], "\(key): \(again.problem(with: key) ?? "")")
    }

    /// The reason why the item stays in memory.
    private func refusal(_ item: Any) throws -> String {
        let nest = place.nest()
        nest.add(item, "k", .never, .long)
        try #require(nest["k"] != nil && !nest.isPersisted("k"))
        return try #require(nest.problem(with: "k"))
    }

    /// Stores an entry directly, without a nest.
    private func put(code: String? = nil, _ item: CBORValue, _ key: String = "k") throws {
        var terms: CBORMap = ["type": "Array", "mirror": false]
        if let code { terms.append(key: "code", value: .text(code)) }
        let items = try place.archive()
        let whole: CBORValue = ["terms": .map(terms), "item": item]
        try items.put(whole.encoded, forKey: key, encoding: .cbor)
    }

    @Test("collections with collections as keys are read back or stay in memory")
    func collectionsAsKeys() throws {
        let byArray = try stored([[1, 2]: "x", [3]: 7] as [[Int]: Any]) as? [[Int]: Any]
        #expect(byArray?.count == 2 && byArray?[[1, 2]] as? String == "x" && byArray?[[3]] as? Int == 7)
        for set in [
            [[1, 2], "x"], [["a": 1], "x"], [Set([1, 2]), Set(["x"])], [GGGGGGGGGGGGGGGGGGGG(), Spot(x: 1)],
        ]
            as [Set<AnyHashable>]
        {
            #expect(try stored(set) as? Set<AnyHashable> == set)
        }
        let byNil = try stored([nil: "x", 5: 2] as [Int?: Any]) as? [Int?: Any]
        #expect(byNil?[.none] as? String == "x" && byNil?[5] as? Int == 2)
        let anyKey: [AnyHashable: Any] = [["a": 1, "b": "x"] as [String: AnyHashable]: 5]
        #expect(try refusal(anyKey).contains("that isn't Codable"))
        #expect(try refusal([Set<AnyHashable>([1, "x"]): 5] as [AnyHashable: Any]).contains("isn't Codable"))
        let deep: Set<AnyHashable> = [[[[[[1]]]]], "x"]
        #expect(try refusal(deep).contains("more than four levels"))
    }

    @Test("Foundation's collections as keys stay in memory") func foundationCollectionsAsKeys() throws {
        let list = NSArray(array: [1])
        for item in [
            NSSet(object: list), NSSet(object: NSDictionary(dictionary: ["a": 1])),
            NSDictionary(object: 1, forKey: list), [NSSet(object: NSSet(array: [1]))] as [Any],
            Set<AnyHashable>([list, "x"]), NSOrderedSet(array: [list]),
            NSCountedSet(array: [NSSet(array: [1])]),
        ] as [Any] {
            #expect(try refusal(item).contains("Foundation collection"))
        }
    }

    /// Runs in another process, since a failure hangs.
    @Test("nested sets and keys take no exponential time") func nestedKeys() async {
        await #expect(processExitsWith: .success) {
            alarm(300)
            let tests = ItemFormTests()
            defer { withExtendedLifetime(tests) {} }
            var set = NSSet(array: [1])
            for _ in 0..<40 { set = NSSet(array: [set]) }
            let inner = NSDictionary(object: 1, forKey: NSDictionary(dictionary: ["a": 1]))
            let keys = NSDictionary(object: 1, forKey: inner)
            for item in [set, keys, NSArray(object: keys)] {
                try #require(try tests.refusal(item).contains("Foundation collection"))
            }
            var typed: CBORValue = 1
            for _ in 0..<12 { typed = [typed] }
            let codes = String(repeating: "Shy", count: 12) + "Si" + String(repeating: "G", count: 12)
            let coded = CBORValue.tagged(0x4e65_730a, [.text(codes), typed])
            var hashables: CBORValue = 1
            for _ in 0..<100 { hashables = .tagged(0x4e65_7309, [hashables]) }
            var objects: CBORValue = 1
            for _ in 0..<100 { objects = .tagged(0x4e65_7307, [objects]) }
            var pairs: CBORValue = 1
            for _ in 0..<100 { pairs = .map(CBORMap([.init(key: pairs, value: 1)])) }
            for form in [hashables, objects, pairs, .tagged(0x4e65_7309, [coded])] {
                try tests.put(form)
                let nest = tests.place.nest()
                try #require(nest["k"] == nil && nest.problem(with: "k") != nil)
            }
            try tests.put(coded)
            try #require(tests.place.nest()["k"] != nil)
        }
    }

    @Test("short names of huge types are reported as problems", arguments: [10, 20])
    func namesOfManyParts(levels: Int) async {
        await #expect(processExitsWith: .success) { [levels] in
            alarm(300)
            let tests = ItemFormTests()
            defer { withExtendedLifetime(tests) {} }
            // Each level is an optional tuple of ten of the level below.
            var code = "Si_" + String(repeating: "Si", count: 9) + "tSg"
            for level in 1..<levels {
                let below = "A" + String(UnicodeScalar(UInt8(64 + level)))
                code += "_" + String(repeating: below, count: 9) + "tSg"
            }
            try tests.put(code: code, 1, "whole")
            try tests.put([.tagged(0x4e65_730a, [.text(code), 1])], "part")
            try tests.put(code: "Si_A1000A1000A1000At" + String(repeating: "m", count: 5_000), 1, "long")
            let nest = tests.place.nest()
            for key in ["whole", "part", "long"] {
                try #require(nest[key] == nil && nest.problem(with: key) != nil)
            }
        }
    }

    @Test("a type whose decoding ends the process isn't decoded") func trappingTypes() async {
        await #expect(processExitsWith: .success) {
            let tests = ItemFormTests()
            defer { withExtendedLifetime(tests) {} }
            let components = URLComponents()
            for item in [components, [components], ["c": components, "i": 1] as [String: Any]] as [Any] {
                try #require(try tests.refusal(item).contains("damaged"))
            }
            let code = try #require(_mangledTypeName(URLComponents.self))
            let form: CBORValue = ["path": "", "port": -1]
            try tests.put(code: code, form, "whole")
            try tests.put([.tagged(0x4e65_730a, [.text(code), form])], "part")
            let nest = tests.place.nest()
            for key in ["whole", "part"] {
                try #require(nest[key] == nil && nest.problem(with: key)?.contains("damaged") == true)
            }
        }
    }

    @Test("a type is found by its name") func namesOfTypes() throws {
        typealias Two = Pair<GGGGGGGGGGGGGGGGGGGG, Spot>
        let two = Two(first: GGGGGGGGGGGGGGGGGGGG(), second: Spot(x: 1))
        let items: [any Codable] = [
            two, Pair(first: two, second: ["k": [two]]),
            Pair(first: Pair(first: two, second: two), second: two),
            Two.Inner(), [Two.Inner()], Several<Int, String>(), 1..<5, [1: Date(timeIntervalSince1970: 1)],
            Int128(1),
            Measurement(value: 1, unit: UnitLength.meters), [[nil, 1] as [Int?]: Float16(1)],
            CollectionDifference<Int>([])!, Locale(identifier: "de"), [GGGGGGGGGGGGGGGGGGGG()],
        ]
        for item in items {
            #expect("\(try stored(item))" == "\(item)")
            #expect("\(try stored([item, 1] as [Any]))" == "\([item, 1] as [Any])")
        }
    }

    @Test("an item with an invalid interval also expires at once after it is read")
    func invalidIntervals() throws {
        let nest = place.nest()
        for interval: Double in [.nan, -Double.infinity, -1, 0] {
            nest.add("x", "k", .custom(interval), .long)
            let again = place.nest()
            for nest in [nest, again] {
                #expect(nest["k"] as? String == "x")
                nest.clearExpired()
                #expect(nest.countInMemory == 0 || holds { nest.countInMemory == 0 }, "\(interval)")
            }
        }
    }

    @Test("values in an AnyHashable keep their types") func hashableTypes() throws {
        let items = [
            AnyHashable(NSNumber(value: 1)), AnyHashable(NSNumber(value: 1.5)), AnyHashable(NSString("a")),
            AnyHashable(7),
        ]
        let read = try #require(try stored(items) as? [Any])
        let types = read.map { type(of: ($0 as? AnyHashable)?.base ?? $0) }
        #expect(types[0] is NSNumber.Type && types[1] is NSNumber.Type && types[2] is NSString.Type)
        #expect(types[3] is Int.Type && (read[0] as? NSNumber)?.intValue == 1)
    }

    @Test("items are read back unchanged or stay in memory") func unchangedItems() throws {
        let named = try #require(
            try stored([NSString("a"): 1, "b": 2] as [AnyHashable: Any]) as? [AnyHashable: Any])
        #expect(named.keys.contains { type(of: $0.base) == NSString.self } && named.count == 2)
        #if !canImport(Darwin)
        let both = try #require(
            try stored([NSString("a"): 1, "a": 2] as [AnyHashable: Any]) as? [AnyHashable: Any])
        #expect(both["a"] as? Int == 2 && both[NSString("a")] as? Int == 1)
        let inner = NSDictionary(dictionary: [
            "list": NSMutableArray(object: NSMutableSet(array: [1])), "text": NSMutableString("x"),
        ])
        let read = try #require(try stored(inner) as? NSDictionary)
        #expect(read.allValues.contains { type(of: $0) == NSMutableString.self })
        let list = try #require(read.allValues.first { type(of: $0) == NSMutableArray.self })
        #expect(Mirror(reflecting: list).children.contains { type(of: $0.value) == NSMutableSet.self })
        #endif
        #expect(try refusal("abc".dropFirst()).contains("neither Codable nor NSSecureCoding"))
        #expect(
            try refusal(["abc".dropFirst(), "x"] as [Any]).contains("neither Codable nor NSSecureCoding"))
        for number in [NSNumber(value: Float(0.1)), NSNumber(value: Double(Float(0.1)))] {
            for item in [number, [number], ["a": number], NSArray(object: number)] as [Any] {
                let read = try stored(item)
                let part = (read as? [Any])?.first ?? (read as? [String: Any])?["a"] ?? read
                #expect((part as? NSNumber)?.stringValue == number.stringValue)
            }
        }
    }
}
