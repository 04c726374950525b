import ArchiveQuery
import CBOR
import StorageEngine
import Testing

/// Warnings about properties that no entry has, and about kinds that never match.
@Suite("Probable mistakes in valid queries") struct MistakeTests {
    private let cities: ListSource

    init() throws {
        cities = try ListSource(json: [
            #"{"name":"Jakarta","population":8540121,"tags":["a"],"country":"ID","address":{"zip":"1"},"opened":17}"#,
            #"{"name":"Paris","population":2138551,"tags":[],"country":"FR","note":null,"items":[{"price":3}]}"#,
        ])
    }

    private func warnings(_ query: String, of source: ListSource? = nil) throws -> [String] {
        try (source ?? cities).answer(query) { $0.looksForMistakes = true }.report.warnings
    }

    @Test(arguments: [
        ("sum popluation", ["no entry has the property popluation; did you mean population?"]),
        ("group by contry", ["no entry has the property contry; did you mean country?"]),
        ("find POPULATION > 5", ["no entry has the property POPULATION; did you mean population?"]),
        ("find owner = \"x\"", ["no entry has the property owner; did you mean @owner?"]),
        ("sort nmae", ["no entry has the property nmae; did you mean name?"]),
        ("select zip", ["no entry has the property zip; did you mean address.zip?"]),
        ("find address.zap = \"1\"", ["no entry has the property address.zap; did you mean address.zip?"]),
        ("sum items[].prise", ["no entry has the property items[].prise; did you mean items[].price?"]),
        ("find population * nume > 3", ["no entry has the property nume; did you mean name?"]),
        ("sum populasion", ["no entry has the property populasion; did you mean population?"]),
        ("sum bopul", ["no entry has the property bopul; did you mean population?"]),
        ("find entirely = 1", ["no entry has the property entirely"]),
        (
            "find country = GERMANY",
            [#"no entry has the property GERMANY; a text needs quotes: "GERMANY""#]
        ),
        (
            "select name | sort nam",
            ["sort nam: there is no nam after the previous stage, only name; did you mean name?"]
        ),
        (
            "count | find @key = \"x\"",
            [#"find @key = "x": there is no @key after the previous stage, only "count""#]
        ),
        (
            #"select name as "a b" | sort a.b"#,
            [#"sort a.b: there is no a.b after the previous stage, only "a b"; did you mean "a b"?"#]
        ),
    ])
    func warnsOfUnknownProperties(query: String, expected: [String]) throws {
        #expect(try warnings(query) == expected)
    }

    @Test("a suggested property is written as in a query") func quotedSuggestions() throws {
        let source = try ListSource(json: [#"{"m":{"0":5}}"#])
        #expect(
            try warnings(#"select "m.0""#, of: source) == [
                #"no entry has the property "m.0"; did you mean m."0"?"#
            ])
        #expect(try source.columns(#"select m."0""#) == [["5"]])
    }

    @Test(arguments: [
        ("find @key = 1642911", [#"@key = 1642911: @key is a text, not a number; write texts in "…""#]),
        (
            #"find tags contains "a""#,
            [#"tags contains "a": tags is a list, not a text; use "has" for lists, or tags[]"#]
        ),
        ("sum name", [#"sum name: name is a text, not a number; number(name) reads texts as numbers"#]),
        (
            #"find population = "8540121""#,
            [#"population = "8540121": population is a number, not a text; write numbers without quotes"#]
        ),
        (
            "find opened > 2026-01-31",
            [
                "opened > 2026-01-31: opened is a number, not a date; seconds since 1970 are the date 1970-01-01Z + opened"
            ]
        ),
        ("find name > population", ["name > population: the sides always differ in kind"]),
        (
            "find count(population) = 3",
            [
                "count(population) = 3: population is a number, not a text or a list or a map or bytes"
            ]
        ),
    ])
    func warnsOfMismatchedKinds(query: String, expected: [String]) throws {
        // The number of entries without an answer may follow.
        #expect(try Array(warnings(query).prefix(1)) == expected)
    }

    /// A single entry with the property suffices, also with null, and also if the query doesn't evaluate it.
    @Test(arguments: [
        "find note = 1", "find note is null", "sum population", "find items[].price = 3",
        "find tags is empty", "find name = \"Jakarta\" and items[0].price = 3",
        "find population in [1, \"x\"]", "find @size > 1 | count", "find name = \"Paris\" and note = 2",
        "find tags has 1", "select address.zip as z | sort z", "find population > 1 | sort address.zip",
        "find name != null", "count", "group by note", "find opened = 17 and name = country",
        "select population + opened | find population + opened > 5",
    ])
    func noWarningIfPresent(query: String) throws {
        #expect(try warnings(query) == [])
    }

    @Test(
        "an entry of the right kind prevents the warning, even if another part decided the condition",
        arguments: [
            "find n = 1 or (g = 2 and t > 3)", "find n = 1 or (t > 3 and g = 2)", "find g = 2 | find t > 3",
            "find g = 2 and t > n", "find g = 2 and not (t < 3)", "find g = 2 and t between 1 and 9",
            "find @key = \"1\" or (@key = \"0\" and t > 3)", "find l != 9 | limit 1",
        ])
    func kindsOfUntestedEntries(query: String) throws {
        let source = try ListSource(json: [
            #"{"g":2,"t":"x","n":8,"l":"x"}"#, #"{"g":1,"t":5,"n":4,"l":3}"#, #"{"g":3,"n":1,"t":7,"l":"x"}"#,
        ])
        #expect(
            try warnings(query, of: source).allSatisfy { !$0.contains(" not a ") && !$0.contains("never") })
    }

    @Test("warns of a kind that no entry has, even if only some were tested") func mistakenPart() throws {
        let found = try warnings("find country = \"FR\" and name > 3")
        #expect(found.first?.contains("name is a text, not a number") == true)
    }

    @Test("gives no warning if no entry or element was evaluated") func noEntriesNoWarnings() throws {
        #expect(try warnings("find popluation = 1", of: ListSource([])) == [])
        let empty = try ListSource(json: [#"{"tags":[]}"#, #"{"tags":[]}"#])
        #expect(try warnings("find tags[] = 1", of: empty) == [])
        #expect(
            try warnings("find tag[] = 1", of: empty) == [
                "no entry has the property tag[]; did you mean tags?"
            ])
        #expect(try warnings("find @size > 10000 and popluation = 1") == [])
        #expect(try warnings("find @key = \"0\" and popluation = 1") == [])
    }

    @Test("a date and a text that is a date are comparable") func datesAndDateTexts() throws {
        let orders = try ListSource(json: [#"{"s":"2026-01-31T00:00:00Z","e":"2026-01-31T00:00:07Z","n":5}"#])
        for relation in [">", ">=", "="] {
            #expect(try warnings("find e \(relation) s + 8d", of: orders) == [])
        }
        #expect(try warnings("find e > n", of: orders).first?.contains("always differ in kind") == true)
    }

    @Test("a query that names its keys reads the other entries only on request")
    func conditionsOnKeys() throws {
        for (query, expected) in [("popluation is null", 1), ("population is null", 0), ("note = 2", 0)] {
            let whole = "find @key = \"0\" and \(query)"
            #expect(try warnings(whole) == [])
            let all = try cities.answer(whole) {
                $0.looksForMistakes = true
                $0.looksBeyondKeys = true
            }
            #expect(all.report.warnings.count == expected, "\(query)")
        }
    }

    @Test("warnings are off by default") func warningsAreOptional() throws {
        #expect(try cities.answer("sum popluation").report.warnings == [])
    }
}
