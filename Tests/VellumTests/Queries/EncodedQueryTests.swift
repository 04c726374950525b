import ArchiveQuery
import CBOR
import Foundation
import StorageEngine
import Testing
import Vellum

/// Queries test encoded values only for properties that are proven to be encoded under a name.
@Suite struct EncodedQueryTests {
    struct Plain: ArchiveCodable, Equatable {
        struct Home: Codable, Equatable {
            var city: String
            var floor: Int?
        }

        var primaryKey: String { name }
        var name: String
        var age = 0
        var weight: Float = 1
        var born = Date(timeIntervalSince1970: 0)
        var isMember = false
        var tags: [String] = []
        var nick: String?
        var home: Home?
        // Computed from others.
        var initial: String { String(name.prefix(1)) }
        var years: Int { age }
        var isOld: Bool { age > 60 }
    }

    struct Renamed: ArchiveCodable {
        var primaryKey: String { name }
        var name: String
        var age: Int

        enum CodingKeys: String, CodingKey {
            case name = "age", age = "name"
        }
    }

    /// Types whose decoded properties differ from the encoded ones.
    struct Lenient: ArchiveCodable {
        var primaryKey: String { name }
        var name: String
        var age: Int
        var score: Int
        var word: String

        init(name: String, age: Int, score: Int = 0, word: String = "") {
            (self.name, self.age, self.score, self.word) = (name, age, score, word)
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            name = try values.decode(String.self, forKey: .name)
            age = max(0, try values.decode(Int.self, forKey: .age))
            score = try values.decodeIfPresent(Int.self, forKey: .score) ?? 0
            word = (try? values.decode(String.self, forKey: .word)) ?? ""
        }
    }

    /// A type that reads two formats.
    struct TwoFormats: ArchiveCodable {
        var primaryKey: String { name }
        var name: String

        enum CodingKeys: String, CodingKey {
            case name, title
        }

        init(name: String) { self.name = name }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            name =
                try values.decodeIfPresent(String.self, forKey: .name)
                ?? values.decode(String.self, forKey: .title)
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(name, forKey: .name)
        }
    }

    struct Temperature: ArchiveCodable {
        var primaryKey: String
        var value: Int

        enum CodingKeys: String, CodingKey {
            case primaryKey, value, isTenfold
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            primaryKey = try values.decode(String.self, forKey: .primaryKey)
            let factor = try values.decode(Bool.self, forKey: .isTenfold) ? 10 : 1
            value = try values.decode(Int.self, forKey: .value) * factor
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(primaryKey, forKey: .primaryKey)
            try values.encode(value, forKey: .value)
            try values.encode(false, forKey: .isTenfold)
        }
    }

    final class Reference: ArchiveCodable {
        var primaryKey: String { name }
        var name: String
        var age: Int
        var half: Int { age / 2 }

        init(name: String, age: Int) { (self.name, self.age) = (name, age) }
    }

    private let store = TemporaryStore()

    /// The predicate on encoded values for a find; `nil` if objects are tested.
    private func encoded<Object>(
        _ archives: ArchiveManager<Object>, _ find: (QueryFinder<Object>) -> QueryFinder<Object>
    ) throws -> String? {
        try archives.core.encodedConditions(of: [.find(find)])
            .map { QueryPipeline([.find($0.conditions)]).description }
    }

    private func plain() throws -> ArchiveManager<Plain> {
        let archives = try store.factory().archives(for: Plain.self)
        for number in 0..<20 {
            let home =
                number % 2 == 0
                ? Plain.Home(city: "Bogor \(number)", floor: number % 4 == 0 ? number : nil) : nil
            archives.record(
                Plain(
                    name: "n\(number)", age: number, born: Date(timeIntervalSince1970: Double(number) + 0.1),
                    tags: number % 3 == 0 ? ["x"] : [], nick: number % 5 == 0 ? "N" : nil, home: home))
        }
        return archives
    }

    @Test("stored properties are tested on encoded values") func storedProperties() throws {
        let archives = try plain()
        #expect(try encoded(archives) { $0.age(.greater(than: 17)) } == "find age > 17")
        #expect(
            try encoded(archives) { $0.nick(.isNil).name(.contains("n1")) }
                == "find nick is null and name contains \"n1\"")
        #expect(try encoded(archives) { $0.home.city(.isEqual("Bogor 2")) } == "find home.city = \"Bogor 2\"")
        #expect(try encoded(archives) { $0.home.floor(.lessOrEqual(with: 4)) } == "find home.floor <= 4")
        #expect(try encoded(archives) { $0.tags(.contains(with: "x")).isMember(.isEqual(false)) } != nil)
        #expect(try encoded(archives) { $0.weight(.greater(than: 0.5)) } == "find weight > 0.5")
        #expect(try encoded(archives) { $0.born(.greater(than: .now)) } != nil)
    }

    @Test("computed properties and closures are tested on objects") func computedProperties() throws {
        let archives = try plain()
        #expect(try encoded(archives) { $0.initial(.isEqual("n")) } == nil)
        #expect(try encoded(archives) { $0.years(.isEqual(3)) } == nil)
        #expect(try encoded(archives) { $0.isOld(.isEqual(true)) } == nil)
        #expect(try encoded(archives) { $0.home(.isNotNil) } == nil)
        #expect(try encoded(archives) { $0.age(.isValid { $0 > 3 }) } == nil)
        #expect(try encoded(archives) { $0.years(.less(than: 9)).age(.less(than: 5)) } == "find age < 5")
        #expect(archives.findWhere { $0.years(.less(than: 4)).age(.less(than: 5)) }.getResults().count == 4)
        #expect(archives.findWhere { $0.initial(.isEqual("n")) }.getResults().count == 20)
    }

    @Test("renamed keys are found by probing") func renamedKeys() throws {
        let archives = try store.factory().archives(for: Renamed.self)
        archives.record(Renamed(name: "a", age: 1))
        archives.record(Renamed(name: "b", age: 2))
        #expect(try encoded(archives) { $0.age(.isEqual(2)) } == "find name = 2")
        #expect(archives.findWhere { $0.age(.isEqual(2)) }.getResults().map(\.name) == ["b"])
        #expect(archives.findWhere { $0.name(.isEqual("a")) }.getResults().map(\.age) == [1])
    }

    @Test("properties that the decoder converts are tested on objects") func convertedProperties() throws {
        let archives = try store.factory().archives(for: Lenient.self)
        archives.record(Lenient(name: "a", age: -5, score: 3, word: "w"))
        #expect(try encoded(archives) { $0.name(.isEqual("a")) } == "find name = \"a\"")
        #expect(try encoded(archives) { $0.age(.isEqual(0)) } == nil, "negative numbers decode as 0")
        #expect(try encoded(archives) { $0.score(.isEqual(0)) } == nil, "absent numbers decode as 0")
        #expect(try encoded(archives) { $0.word(.isEqual("")) } == nil, "other kinds decode as empty texts")
        let fresh = try store.factory().archives(for: Lenient.self)
        #expect(fresh.findWhere { $0.age(.isEqual(0)) }.getResults().map(\.name) == ["a"])
    }

    /// Stores a JSON value under its key.
    private func put(_ values: [(key: String, json: String)], in archive: String) throws {
        let other = try StorageEngine.Store.open(at: store.path)
        defer { other.close() }
        let bytes = try other.archive(named: archive)
        for (key, json) in values {
            try bytes.put(CBORValue(json: json).encoded, forKey: key, encoding: .cbor)
        }
    }

    @Test("values in a former format are found") func formerFormats() throws {
        let archives = try store.factory().archives(for: TwoFormats.self)
        archives.record(TwoFormats(name: "Ada"))
        try put([("Old", "{\"title\":\"Old\"}"), ("Ada", "{\"name\":\"Ada\"}")], in: "TwoFormats")
        #expect(try encoded(archives) { $0.name(.isEqual("Ada")) } == "find name = \"Ada\"")
        #expect(archives.findWhere { $0.name(.isEqual("Old")) }.getResults().map(\.name) == ["Old"])
        #expect(archives.findWhere { $0.name(.contains("d")) }.getResults().count == 2)
    }

    @Test("properties that some values convert are tested on objects") func conditionalConversions() throws {
        let archives = try store.factory().archives(for: Temperature.self)
        try put(
            [
                ("a", "{\"primaryKey\":\"a\",\"value\":1,\"isTenfold\":true}"),
                ("b", "{\"primaryKey\":\"b\",\"value\":5,\"isTenfold\":false}"),
            ], in: "Temperature")
        #expect(try encoded(archives) { $0.value(.less(than: 8)) } == nil)
        // A probe must not overflow in the type's calculation.
        #expect(archives.findWhere { $0.value(.isEqual(10)) }.getResults().map(\.primaryKey) == ["a"])
    }

    @Test("properties of classes are tested on encoded values") func propertiesOfClasses() throws {
        let archives = try store.factory().archives(for: Reference.self)
        archives.record(Reference(name: "a", age: 10))
        #expect(try encoded(archives) { $0.age(.isEqual(10)) } == "find age = 10")
        #expect(try encoded(archives) { $0.half(.isEqual(5)) } == nil)
        let found = archives.findWhere { $0.age(.isEqual(10)) }.firstResult()
        found?.age = 99
        #expect(archives.findWhere { $0.age(.isEqual(10)) }.getResults().count == 1, "a copy was changed")
    }

    @Test("dates compare exactly") func dates() throws {
        let archives = try store.factory().archives(for: Plain.self)
        let moment = Date(timeIntervalSince1970: 1_700_000_000.123_456_7)
        let after = Date(timeIntervalSince1970: moment.timeIntervalSince1970.nextUp)
        archives.record(Plain(name: "at", born: moment))
        archives.record(Plain(name: "after", born: after))
        func names(_ finder: PropertyFinder<Date, Date>) -> Set<String> {
            Set(archives.findWhere { $0.born(finder) }.getResults().map(\.name))
        }
        #expect(try encoded(archives) { $0.born(.isEqual(moment)) } != nil)
        #expect(names(.isEqual(moment)) == ["at"] && names(.isEqual(after)) == ["after"])
        #expect(names(.greater(than: moment)) == ["after"] && names(.less(than: after)) == ["at"])
        #expect(
            names(.lessOrEqual(with: moment)) == ["at"] && names(.greaterOrEqual(with: after)) == ["after"])
        #expect(names(.isNotEqual(moment)) == ["after"])
        archives.record(Plain(name: "never", born: .distantFuture))
        archives.record(Plain(name: "endless", born: Date(timeIntervalSince1970: .infinity)))
        #expect(names(.greater(than: moment)) == ["after", "never", "endless"])
        #expect(names(.less(than: moment)) == [])
    }

    @Test("only matching values are decoded") func decodedValues() throws {
        let archives = try plain()
        let other = try StorageEngine.Store.open(at: store.path)
        defer { other.close() }
        let bytes = try other.archive(named: "Plain")
        // A value of another type that doesn't match; then one that matches.
        try bytes.put([0xa1, 0x63, 0x61, 0x67, 0x65, 0x08], forKey: "stranger", encoding: .cbor)
        #expect(archives.findWhere { $0.age(.isEqual(7)) }.getResults().map(\.name) == ["n7"])
        #expect(archives.statistics?.undecodable == 0)
        try bytes.put([0xa1, 0x63, 0x61, 0x67, 0x65, 0x07], forKey: "other", encoding: .cbor)
        #expect(archives.findWhere { $0.age(.isEqual(7)) }.getResults().map(\.name) == ["n7"])
        #expect(archives.statistics?.undecodable == 1)
    }

    @Test("objects in memory only are found") func objectsInMemory() throws {
        let archives = try store.factory().archives(
            for: Plain.self, trySetMaxMemorySize: 10_000, trySetMaxDiskSize: 300)
        archives.record(Plain(name: "small", age: 1))
        archives.record(Plain(name: String(repeating: "large", count: 100), age: 1))
        #expect(archives.findWhere { $0.age(.isEqual(1)) }.getResults().count == 2)
    }

    @Test("a query counts accesses of its results only") func countedAccesses() throws {
        let archives = try plain()
        let before = archives.statistics?.hits ?? 0
        #expect(archives.findWhere { $0.age(.less(than: 3)) }.getResults().map(\.age) == [2, 1, 0])
        #expect(archives.statistics?.hits == before + 3)
        #expect(archives.accessAll(limitedBy: 3).map(\.age) == [2, 1, 0])
    }
}
