import CBOR
import Foundation
import Nest
import StorageEngine
import TestSupport
import Testing

/// Conforms to secure coding, but can't be decoded.
final class Forgetful: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    override init() {}
    init?(coder: NSCoder) { nil }
    func encode(with coder: NSCoder) {}
}

/// Supports keyed archives, and declares that it isn't secure.
final class Insecure: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { false }
    override init() {}
    init?(coder: NSCoder) { nil }
    func encode(with coder: NSCoder) {}
}

/// Equal only to itself, also after decoding.
final class Blind: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let number: Int
    init(_ number: Int) { self.number = number }
    init?(coder: NSCoder) { number = coder.decodeInteger(forKey: "number") }
    func encode(with coder: NSCoder) { coder.encode(number, forKey: "number") }
    override var description: String { "Blind \(number)" }
}

struct Spot: Codable, Hashable { var x: Int }

/// An object that may contain itself.
final class Link: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    var next: Link?
    override init() {}
    init?(coder: NSCoder) { next = coder.decodeObject(of: Link.self, forKey: "next") }
    func encode(with coder: NSCoder) { coder.encode(next, forKey: "next") }
}

/// The stored form of an object that isn't `Codable`.
private struct Stored: Codable {
    struct Terms: Codable {
        var type = "NSDictionary"
        var mirror = false
    }
    var terms = Terms()
    var archive: Data
}

/// Objects that are stored as keyed archives, and damaged or hostile archives.
@Suite struct KeyedArchiveTests {
    private let place = Place()

    private func archive(of object: NSObject) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }

    /// Stores an entry directly, without a nest.
    private func put(_ archive: Data, forKey key: String) throws {
        let items = try place.archive()
        try items.put(try CBOREncoder().encode(Stored(archive: archive)), forKey: key, encoding: .cbor)
    }

    @Test("items with unarchivable parts stay in memory") func unarchivableParts() {
        struct Local: Codable { var x: Int }
        let nest = place.nest()
        var deep: Any = 1
        for _ in 0..<300 { deep = [deep] as [Any] }
        let items: [String: Any] = [
            "closure": ["s": { 1 } as () -> Int] as [String: Any], "nested": [["a", [OwnError.x]]] as [Any],
            "errors": [OwnError.x] as [any Error], "number": NSDecimalNumber(string: "1.1"),
            "numbers": NSArray(object: NSDecimalNumber(string: "1.1")),
            "error": NSError(domain: "d", code: 3),
            "errors in objects": NSArray(object: NSError(domain: "d", code: 3)), "deep": deep,
            "insecure": Insecure(), "ordered": NSOrderedSet(array: [Insecure()]),
            "insecure part": ["i": Insecure()] as [String: Any], "counted": NSCountedSet(array: [Insecure()]),
            "attribute": NSAttributedString(string: "x", attributes: [.init("a"): Spot(x: 1)]),
            "local": ["l": Local(x: 1)] as [String: Any],
        ]
        for (key, item) in items {
            nest.add(item, key, .long, .long)
            #expect(nest[key] != nil && !nest.isPersisted(key), "\(key)")
            #expect(nest.problem(with: key) != nil, "\(key)")
        }
        let sound: [String: Any] = [
            "n": 1, "t": "t", "d": Date(), "l": [1, "a", [2.5]] as [Any], "o": NSNull(),
        ]
        nest.add(sound, "sound", .long, .long)
        #expect(nest.isPersisted("sound"), "\(nest.problem(with: "sound") ?? "")")
    }

    @Test("absent values in a collection are null") func absentValues() throws {
        let nest = place.nest()
        let name: String? = nil
        let items: [String: Any] = [
            "dictionary": ["name": name as Any, "age": 7] as [String: Any],
            "optionals": ["a": nil, "b": 1] as [String: Any?], "list": [1, nil, "x"] as [Any?],
            "nested": ["l": [name as Any, [name as Any]]] as [String: Any],
        ]
        for (key, item) in items {
            nest.add(item, key, .long, .long)
            #expect(nest.isPersisted(key), "\(key): \(nest.problem(with: key) ?? "")")
        }
        let again = place.nest()
        let read = try #require(again["dictionary"] as? [String: Any])
        #expect(read["name"] is NSNull && read["age"] as? Int == 7)
        let list = try #require(again["list"] as? [Any])
        #expect(list.count == 3 && list[1] is NSNull && list[2] as? String == "x")
    }

    /// On Linux an archive merges equal numbers of different kinds.
    @Test("numbers keep their kinds") func numberKinds() throws {
        let nest = place.nest()
        let date = Date(timeIntervalSince1970: 1_764_000_000.5)
        let item: [String: Any] = [
            "list": [true, false, 1, 0, 1.0, -7, 2.5] as [Any], "t": true, "i": 1, "d": 1.0, "date": date,
            "bytes": Data([1, 2]), "inner": ["ü": "x", "empty": [Any]()] as [String: Any],
        ]
        nest.add(item, "k", .long, .long)
        #expect(nest.isPersisted("k"), "\(nest.problem(with: "k") ?? "")")
        let read = try #require(place.nest()["k"] as? [String: Any])
        let list = try #require(read["list"] as? [Any])
        #expect(
            list.map { "\(type(of: $0)) \($0)" } == (item["list"] as? [Any])?.map { "\(type(of: $0)) \($0)" })
        #expect(read["t"] as? Bool == true && read["i"] as? Int == 1 && type(of: read["d"]!) == Double.self)
        #expect(read["date"] as? Date == date && read["bytes"] as? Data == Data([1, 2]))
        let inner = try #require(read["inner"] as? [String: Any])
        #expect(inner["ü"] as? String == "x" && (inner["empty"] as? [Any])?.isEmpty == true)
    }

    /// An item with the types of all its parts.
    private static func described(_ item: Any) -> String {
        func joined(_ parts: [String]) -> String { parts.joined(separator: ", ") }
        func pair(_ key: Any, _ value: Any) -> String { described(key) + ": " + described(value) }
        switch item {
        case let list as NSArray where type(of: item) is AnyClass:
            return "\(type(of: list))(" + joined((0..<list.count).map { described(list.object(at: $0)) })
                + ")"
        case let pairs as NSDictionary where type(of: item) is AnyClass:
            let parts = pairs.allKeys.map { pair($0, pairs.object(forKey: $0) ?? "none") }.sorted()
            return "\(type(of: pairs))(" + joined(parts) + ")"
        case let set as NSSet where type(of: item) is AnyClass:
            return "\(type(of: set))(" + joined(set.allObjects.map(described).sorted()) + ")"
        case let number as NSNumber where type(of: item) is AnyClass:
            let kind = String(cString: number.objCType)
            return "\(type(of: number)) \(kind == "i" ? "q" : kind) \(number)"
        case let list as [Any]: return "[" + joined(list.map(described)) + "]"
        case let pairs as [AnyHashable: Any]:
            return "[" + joined(pairs.map { pair($0.key.base, $0.value) }.sorted()) + "]"
        case let set as Set<AnyHashable>: return "{" + joined(set.map { described($0.base) }.sorted()) + "}"
        case let text as String: return "\(type(of: item)) \(Array(text.utf8))"
        case let url as URL: return "URL \(url.relativeString) \(url.baseURL?.absoluteString ?? "")"
        default: return "\(type(of: item)) \(item)"
        }
    }

    @Test("collections are read back with the types of all parts") func collectionTypes() throws {
        let json = try JSONSerialization.jsonObject(
            with: Data(
                #"{"a":true,"b":1,"c":1.0,"d":null,"e":[0,false,"x",{"f":2.5,"g":18446744073709551615}]}"#
                    .utf8))
        let counted = NSCountedSet(array: ["a", "a", "b"])
        var nested: NSArray = ["x"]
        for _ in 0..<180 { nested = [nested] }
        var shared: NSArray = ["x"]
        for _ in 0..<10 { shared = [shared, shared] }
        let base = try #require(URL(string: "http://x.y/a/"))
        let items: [String: Any] = [
            "object": ["o": Blind(3), "f": false, "n": 0, "r": 0.0, "l": [true, 1, 1.0] as [Any]]
                as [String: Any],
            "keys": ["a": 1, 1: 5, true: 7, 2.5: "x", Spot(x: 2): "spot"] as [AnyHashable: Any],
            "set": Set([1, true, "x", Spot(x: 1)] as [AnyHashable]),
            "mixed": [Set([1, 2]), ["k": "v", 1: 5] as [AnyHashable: Any], [3: "three"]] as [Any],
            "mutable": [
                NSMutableArray(array: [3]), NSMutableString(string: "s"),
                NSMutableDictionary(dictionary: ["a": 1]),
                NSMutableSet(array: [1]), NSString(string: "t"), NSArray(array: [1]),
                NSDictionary(dictionary: [1: "a"]),
            ] as [Any],
            "mutable text": NSMutableString(string: "abc"), "mutable list": NSMutableArray(array: [1, "a"]),
            "url": [try #require(URL(string: "z", relativeTo: base)), base] as [Any],
            "zeros": [0.0, -0.0, UInt8(3), NSNumber(value: -0.0)] as [Any], "json": json,
            "numbers": [
                UInt8(1), Int8(-1), UInt64.max, Int64.min, Float(0.1), Decimal(string: "1.1")!,
                9_007_199_254_740_993,
                NSNumber(value: true), NSNumber(value: 1), NSNumber(value: UInt64.max), NSNumber(value: 1.0),
            ] as [Any],
            "texts": ["e\u{301}", "\u{e9}", "$null"] as [Any], "dollar": NSArray(array: ["$null", "x"]),
            "structures": ["s": Spot(x: 4), "l": [Spot(x: 5)], "i": [UInt8]([1, 2, 3])] as [String: Any],
            "absent": [1, nil, [nil, 2] as [Int?]] as [Any?], "nested": nested, "shared": shared,
            "interval": [DateInterval(start: Date(timeIntervalSince1970: 1), duration: 5)] as [Any],
            "date": [Date(timeIntervalSinceReferenceDate: 0.1 + 1e-9)] as [Any],
        ]
        let nest = place.nest()
        nest.allow(Blind.self)
        for (key, item) in items {
            nest.add(item, key, .long, .long)
            #expect(nest.isPersisted(key), "\(key): \(nest.problem(with: key) ?? "")")
        }
        nest.add([counted, "z"] as [Any], "counted", .long, .long)
        let again = place.nest()
        again.allow(Blind.self, NSCountedSet.self)
        for (key, item) in items where key != "absent" {
            let read = try #require(again[key], "\(key): \(again.problem(with: key) ?? "")")
            #expect(Self.described(read) == Self.described(item), "\(key)")
        }
        let optionals = try #require(again["absent"] as? [Any])
        #expect(optionals[1] is NSNull && optionals[2] as? [Int?] == [nil, 2])
        let list = try #require(again["counted"] as? [Any])
        #expect((list[0] as? NSCountedSet)?.count(for: "a") == 2)
    }

    @Test("damaged forms are reported as problems") func damagedForms() throws {
        let forms: [CBORValue] = [
            .tagged(0x4e65_7300, .text("x")), .tagged(0x4e65_73ff, .unsigned(1)),
            .tagged(0x4e65_7303, .map(CBORMap([]))), .tagged(0x4e65_730a, ["Si"]),
            .tagged(0x4e65_730a, ["no type", 1]), .tagged(0x4e65_730a, ["Si", "x"]),
            .tagged(0x4e65_730b, .bytes([1, 2, 3])), .tagged(0x4e65_7309, [1, 1]),
            .tagged(0x4e65_7309, [[1], 2]), .undefined, .unsigned(.max),
            .map(CBORMap([.init(key: 1, value: 1), .init(key: 1, value: 2)])),
        ]
        let items = try place.archive()
        for (number, form) in forms.enumerated() {
            let whole: CBORValue = ["terms": ["type": "Array", "mirror": false], "item": form]
            try items.put(whole.encoded, forKey: "k\(number)", encoding: .cbor)
        }
        let nest = place.nest()
        for number in forms.indices {
            #expect(nest["k\(number)"] == nil, "\(number)")
            #expect(nest.problem(with: "k\(number)") != nil, "\(number)")
        }
    }

    final class Nested: NSObject, NSSecureCoding {
        static var supportsSecureCoding: Bool { true }
        override init() {}
        init?(coder: NSCoder) {}
        func encode(with coder: NSCoder) {}
    }

    /// On Linux, archiving these ends the process.
    @Test("classes without a name stay in memory") func unnamedClasses() {
        let nest = place.nest()
        nest.allow(Nested.self)
        for (key, item) in ["alone": Nested(), "part": ["n": Nested()] as [String: Any]] as [String: Any] {
            nest.add(item, key, .long, .long)
            #if !canImport(Darwin)
            #expect(nest[key] != nil && !nest.isPersisted(key))
            #expect(nest.problem(with: key)?.contains("can't name") == true)
            #endif
        }
        nest.add(NSArray(array: ["a"]), "k", .long, .long)
        let again = place.nest()
        again.allow(Nested.self)
        #expect((again["k"] as? [Any])?.count == 1)
    }

    @Test("objects that an archive alters stay in memory") func alteredObjects() {
        let nest = place.nest()
        let text = NSMutableAttributedString(string: "a", attributes: [.init("n"): 1])
        for (key, item) in ["text": text, "part": ["t": text] as [String: Any]] as [String: Any] {
            nest.add(item, key, .long, .long)
            let back: Any? = nest.isPersisted(key) ? place.nest()[key] : nil
            #expect(back.map { "\($0)" } == "\(item)" || nest.problem(with: key) != nil, "\(key)")
        }
    }

    private enum OwnError: Error { case x }

    @Test("an archive of another API is refused and kept") func foreignArchives() throws {
        let others = try place.archive(typeName: "Swift.String")
        try others.put([1], forKey: "a", encoding: .cbor)
        let nest = place.nest()
        nest.add(1, "k", .long, .long)
        #expect(nest["k"] as? Int == 1 && !nest.isPersisted("k"))
        #expect(nest.lastProblem.map { "\($0)" }?.contains("Swift.String") == true)
        nest.clear()
        #expect(try others.keys(KeyQuery()).keys == ["a"])
    }

    /// Changes fields of an archive's first dictionary, which is its root.
    private func changed(
        _ data: Data, _ change: (inout [String: Any], inout [Any], _ root: Any) -> Void
    ) throws -> Data {
        var list = try #require(
            try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        var objects = try #require(list["$objects"] as? [Any])
        let root = try #require((list["$top"] as? [String: Any])?["root"])
        var fields = try #require(objects[1] as? [String: Any])
        change(&fields, &objects, root)
        if objects.count > 1 { objects[1] = fields }
        list["$objects"] = objects
        return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    }

    @Test("an item that can't be read back isn't reported as persisted") func unreadableItems() {
        let nest = place.nest()
        let ring = Link()
        ring.next = Link()
        ring.next?.next = ring
        defer { ring.next = nil }
        for (item, reason) in [(Forgetful(), "can't be read back"), (ring, "contains itself")]
            as [(NSObject, String)]
        {
            nest.add(item, "k", .never, .long)
            #expect(nest["k"] as? NSObject === item && !nest.isPersisted("k"))
            #expect(nest.problem(with: "k")?.contains(reason) == true, "\(nest.problem(with: "k") ?? "")")
        }
    }

    @Test("objects are read back equal") func objects() throws {
        let first = place.nest()
        let chain = Link()
        chain.next = Link()
        let items: [String: NSObject] = [
            "numbers": NSArray(array: [
                NSNumber(value: UInt64.max), NSNumber(value: -5), NSNumber(value: 1.5), NSNumber(value: true),
            ]),
            "texts": NSArray(array: [
                "", "dollar $null", "m\u{e9}\u{65e5}", String(repeating: "x", count: 300),
            ]),
            "nested": NSDictionary(dictionary: [
                "url": NSURL(string: "b", relativeTo: URL(string: "http://a/"))!, "null": NSNull(),
                "id": NSUUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!,
                "date": NSDate(timeIntervalSince1970: 7), "bytes": NSData(data: Data([1, 2])),
                "set": NSSet(array: [1, 2]), "mutable": NSMutableArray(array: [NSMutableString(string: "s")]),
            ]),
            "text": NSString(string: "text"), "number": NSNumber(value: 3),
            "many": NSArray(array: (0..<3_000).map { NSNumber(value: $0) }),
        ]
        for (key, item) in items {
            first.add(item, key, .custom(0), .long)
            let back = try #require(first[key] as? NSObject, "\(key): \(first.lastProblem ?? "")")
            #expect(back.isEqual(item), "\(key): \(back)")
        }
        first.add(chain, "chain", .custom(0), .long)
        #expect((first["chain"] as? Link)?.next?.next == nil && (first["chain"] as? Link)?.next != nil)
    }

    @Test("archives that would end the process are reported as problems")
    func damagedArchives() async throws {
        await #expect(processExitsWith: .success) {
            let tests = KeyedArchiveTests()
            defer { withExtendedLifetime(tests) {} }
            let good = try tests.archive(
                of: NSDictionary(dictionary: ["a": NSNumber(value: 1), "b": NSArray(array: ["x"])]))
            let bad = [
                "cut": try tests.changed(good) { _, objects, _ in objects.removeLast(objects.count - 2) },
                "no objects": try tests.changed(good) { fields, _, _ in fields["NS.objects"] = [Any]() },
                "no keys": try tests.changed(good) { fields, _, _ in fields["NS.keys"] = nil },
                "text for keys": try tests.changed(good) { fields, _, _ in fields["NS.keys"] = "text" },
                "in itself": try tests.changed(good) { fields, _, root in fields["NS.objects"] = [root, root]
                },
                "its own class": try tests.changed(good) { fields, _, root in fields["$class"] = root },
                "nothing": try tests.changed(good) { _, objects, _ in objects = [] },
            ]
            let nest = tests.place.nest()
            for (name, archive) in bad {
                try tests.put(archive, forKey: name)
                try #require(nest[name] == nil && nest.problem(with: name)?.contains("archive") == true)
            }
            // An object that can't be decoded, in a dictionary that then has fewer objects than keys.
            nest.allow(Forgetful.self)
            try tests.put(
                try tests.archive(of: NSDictionary(dictionary: ["a": Forgetful(), "b": Forgetful()])),
                forKey: "forgetful")
            try #require(nest["forgetful"] == nil && nest.problem(with: "forgetful") != nil)
            // An object of an unexpected class.
            nest.allow(Note.self)
            let note = try tests.changed(try tests.archive(of: Note("n"))) { fields, _, _ in
                fields["text"] = fields["$class"]
            }
            try tests.put(note, forKey: "note")
            try #require(nest["note"] == nil && nest.problem(with: "note") != nil)
            try tests.put(good, forKey: "good")
            try #require((nest["good"] as? NSDictionary)?.count == 2)
        }
    }

    /// Foundation doesn't check the fields of these classes.
    @Test("damaged objects in collections are reported as problems") func damagedMembers() async throws {
        await #expect(processExitsWith: .success) {
            alarm(300)
            let tests = KeyedArchiveTests()
            defer { withExtendedLifetime(tests) {} }
            let nest = tests.place.nest()
            nest.allow(
                NSOrderedSet.self, NSMutableOrderedSet.self, NSCountedSet.self, NSURLQueryItem.self,
                NSIndexSet.self)
            let ordered = try tests.archive(of: NSOrderedSet(array: ["a", 1]))
            let counted = try tests.archive(of: NSCountedSet(array: ["a", "a", "b"]))
            let list = NSSet(object: NSArray(object: 1))
            let bad = [
                "text": try tests.changed(ordered) { fields, _, _ in fields["NS.object.0"] = "text" },
                "null": try tests.changed(ordered) { _, objects, _ in objects[2] = "$null" },
                "list": try tests.changed(ordered) { fields, _, _ in fields["NS.objects"] = ["a"] },
                "often": try tests.changed(counted) { fields, _, _ in fields["NS.count0"] = 1 << 58 },
                "less": try tests.changed(counted) { fields, _, _ in fields["NS.count1"] = -1 },
                "many": try tests.changed(counted) { fields, _, _ in fields["NS.count"] = 1 << 58 },
                "word": try tests.changed(counted) { fields, _, _ in fields["NS.count1"] = "x" },
                "found": try tests.archive(of: list),
                "key": try tests.archive(of: NSDictionary(object: 1, forKey: NSArray(object: list))),
                "ordered list": try tests.archive(of: NSOrderedSet(object: NSArray(object: 1))),
                // Foundation doesn't check these, either.
                "query": try tests.archive(of: NSURLQueryItem(name: "a", value: "b")),
                "indexes": try tests.archive(of: NSIndexSet(index: 1)),
            ]
            for (name, archive) in bad {
                try tests.put(archive, forKey: name)
                try #require(nest[name] == nil && nest.problem(with: name) != nil, "\(name)")
            }
            try tests.put(ordered, forKey: "ordered")
            try #require((nest["ordered"] as? NSOrderedSet)?.count == 2)
            try tests.put(counted, forKey: "counted")
            try #require((nest["counted"] as? NSCountedSet)?.count(for: "a") == 2)
            #if !canImport(Darwin)
            nest.add(NSURLQueryItem(name: "a", value: "b"), "k", .never, .long)
            try #require(nest["k"] is NSURLQueryItem && !nest.isPersisted("k"))
            try #require(nest.problem(with: "k")?.contains("Foundation doesn't check") == true)
            #endif
        }
    }

    @Test("random changes of an archive give an item or a problem", arguments: 0..<3)
    func mutatedArchives(kind: Int) async throws {
        await #expect(processExitsWith: .success) { [kind] in
            alarm(300)
            let tests = KeyedArchiveTests()
            defer { withExtendedLifetime(tests) {} }
            var random = SeededGenerator(seed: 11)
            let items: [NSObject] = [
                NSDictionary(dictionary: [
                    "a": NSArray(array: [Note("n"), NSUUID()]),
                    "b": NSSet(array: [NSDate(), NSURL(string: "a:b")!]),
                    "c": NSMutableDictionary(dictionary: ["x": NSMutableString(string: "y")]),
                ]), NSOrderedSet(array: ["a", 1, NSDate()]), NSCountedSet(array: ["a", "a", 1]),
            ]
            let good = try tests.archive(of: items[kind])
            let nest = tests.place.nest()
            nest.allow(
                Note.self, NSMutableDictionary.self, NSMutableString.self, NSOrderedSet.self,
                NSCountedSet.self)
            var count = (read: 0, refused: 0)
            for _ in 0..<400 {
                var bytes = [UInt8](good)
                for _ in 0...Int.random(in: 0..<3, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
                        in: 0...255, using: &random)
                }
                try tests.put(Data(bytes), forKey: "k")
                if nest["k"] == nil { count.refused += 1 } else { count.read += 1 }
                nest.removeItem(with: "k")
            }
            try #require(count.read > 0 && count.refused > 0)
        }
    }
}
