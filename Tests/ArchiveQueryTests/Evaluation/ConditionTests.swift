import ArchiveQuery
import CBOR
import Foundation
import StorageEngine
import TestSupport
import Testing

/// Each row of the language's table, on a property that matches, doesn't match, is null, absent, or of another kind.
@Suite("Conditions") struct ConditionTests {
    /// Values of the property `p`; the last row doesn't have it.
    private static let values = [
        #""Jakarta""#, #""jakarta utara""#, #""""#, "3", "3.0", "2.5", "-7", "18446744073709551615",
        "9007199254740993", "true", "false", "null", #"["a","b"]"#, #"["a",1,null]"#, "[]", #"{"a":1}"#, "{}",
    ]

    private static let source: ListSource = {
        let texts = values.map { #"{"x":[{"deep":0}],"p":\#($0),"y":1}"# } + [#"{"x":1,"y":2}"#]
        return (try? ListSource(json: texts)) ?? ListSource([])
    }()

    /// The values that match, as JSON; `-` for the row without the property.
    private func matching(_ condition: String) throws -> [String] {
        try Self.source.keys("find " + condition).compactMap { Int($0) }.map {
            $0 < Self.values.count ? Self.values[$0] : "-"
        }
    }

    private static let rows: [(String, [String])] = [
        (#"p contains "kar""#, [#""Jakarta""#, #""jakarta utara""#]),
        (#"p contains "Jak""#, [#""Jakarta""#]),
        (#"p contains """#, [#""Jakarta""#, #""jakarta utara""#, #""""#]),
        (#"p icontains "JAK""#, [#""Jakarta""#, #""jakarta utara""#]),
        (#"p matches "^J.*a$""#, [#""Jakarta""#]),
        (#"p matches """#, [#""Jakarta""#, #""jakarta utara""#, #""""#]),
        (#"p has "a""#, [#"["a","b"]"#, #"["a",1,null]"#]),
        (#"p has 1"#, [#"["a",1,null]"#]),
        (#"p has 1.0"#, [#"["a",1,null]"#]),
        (#"p has null"#, [#"["a",1,null]"#]),
        (#"p has any ["b", 1]"#, [#"["a","b"]"#, #"["a",1,null]"#]),
        (#"p has any []"#, []),
        (#"p has all ["a", "b"]"#, [#"["a","b"]"#]),
        (#"p has all []"#, [#"["a","b"]"#, #"["a",1,null]"#, "[]"]),
        ("count(p) = 2", [#"["a","b"]"#]),
        ("count(p) = 7", [#""Jakarta""#]),
        ("count(p) > 2", [#""Jakarta""#, #""jakarta utara""#, #"["a",1,null]"#]),
        ("count(p) >= 3", [#""Jakarta""#, #""jakarta utara""#, #"["a",1,null]"#]),
        ("count(p) < 1", [#""""#, "[]", "{}"]),
        ("count(p) <= 1", [#""""#, "[]", #"{"a":1}"#, "{}"]),
        (
            "count(p) != 0",
            [
                #""Jakarta""#, #""jakarta utara""#, "null", #"["a","b"]"#, #"["a",1,null]"#, #"{"a":1}"#, "-",
            ]
        ),
        (#"p = "Jakarta""#, [#""Jakarta""#]),
        ("p = 3", ["3", "3.0"]),
        ("p = 3.0", ["3", "3.0"]),
        ("p = 2.5", ["2.5"]),
        ("p = 18446744073709551615", ["18446744073709551615"]),
        ("p = 9007199254740993", ["9007199254740993"]),
        // No floating-point number is this integer; the nearest one is one less.
        ("p = 9007199254740992.0", []),
        ("p > 9007199254740992.0", ["18446744073709551615", "9007199254740993"]),
        ("p = 9007199254740993.0", ["9007199254740993"]),
        ("p = 18446744073709551616.0", []),
        ("p = true", ["true"]),
        ("p = null", ["null", "-"]),
        (
            "p != null",
            [
                #""Jakarta""#, #""jakarta utara""#, #""""#, "3", "3.0", "2.5", "-7", "18446744073709551615",
                "9007199254740993", "true", "false", #"["a","b"]"#, #"["a",1,null]"#, "[]", #"{"a":1}"#, "{}",
            ]
        ),
        // An absent value differs from every value, and so does a value of another kind.
        (#"p != "Jakarta""#, values.filter { $0 != #""Jakarta""# } + ["-"]),
        ("p != 3", values.filter { $0 != "3" && $0 != "3.0" } + ["-"]),
        ("p != true", values.filter { $0 != "true" } + ["-"]),
        // Numbers, booleans, lists and maps have no order with a text, and that is unknown.
        (#"not p > "Jakarta""#, [#""Jakarta""#, #""""#, "null", "-"]),
        (#"not p has "a""#, ["null", "[]", "-"]),
        (
            "not p is empty",
            [
                #""Jakarta""#, #""jakarta utara""#, "null", #"["a","b"]"#, #"["a",1,null]"#, #"{"a":1}"#, "-",
            ]
        ),
        ("p > 2.5", ["3", "3.0", "18446744073709551615", "9007199254740993"]),
        ("p >= 3", ["3", "3.0", "18446744073709551615", "9007199254740993"]),
        ("p < 3", ["2.5", "-7"]),
        ("p <= 2.5", ["2.5", "-7"]),
        (#"p > "Jakarta""#, [#""jakarta utara""#]),
        (#"p <= "Jakarta""#, [#""Jakarta""#, #""""#]),
        ("p between 2.5 and 3", ["3", "3.0", "2.5"]),
        ("p between 4 and 1", []),
        (#"p between "A" and "K""#, [#""Jakarta""#]),
        (#"p in [3, "Jakarta"]"#, [#""Jakarta""#, "3", "3.0"]),
        ("p in [null, false]", ["false", "null", "-"]),
        ("p in []", []),
        ("p is null", ["null", "-"]),
        ("p is empty", [#""""#, "[]", "{}"]),
        (
            "p is not empty",
            [#""Jakarta""#, #""jakarta utara""#, #"["a","b"]"#, #"["a",1,null]"#, #"{"a":1}"#]
        ),
        ("p is null or empty", [#""""#, "null", "[]", "{}", "-"]),
        ("p = 2026-01-31", []),
        ("p > 1970-01-01", []),
        ("p = 3s", ["3", "3.0"]),
        ("p = 3B", ["3", "3.0"]),
        ("p < 1m and p > 2s", ["3", "3.0", "2.5"]),
        ("p[0] = \"a\"", [#"["a","b"]"#, #"["a",1,null]"#]),
        ("p[2] is null and count(p) = 3", [#"["a",1,null]"#]),
        ("p.a = 1", [#"{"a":1}"#]),
        ("p.a = 1 and y = 1 and x[0].deep = 0", [#"{"a":1}"#]),
        ("x[1].deep = 0 or x[0].deep = 1", []),
        ("y = 2", ["-"]),
        ("not p is not null", ["null", "-"]),
        ("not (p is not null or empty)", [#""""#, "null", "[]", "{}", "-"]),
        ("(p = 3 or p = 2.5) and not p = 2.5", ["3", "3.0"]),
    ]

    @Test(arguments: ConditionTests.rows)
    func table(condition: String, values: [String]) throws {
        #expect(try matching(condition) == values)
    }

    @Test("texts are equal in any normal form, and contain whole characters")
    func textsCompareAsSwiftStrings() throws {
        let source = try ListSource(json: [
            #"{"p":"caf\u00e9"}"#, #"{"p":"cafe\u0301"}"#, #"{"p":"\u212a"}"#, #"{"p":"K"}"#,
            #"{"p":"stra\u00dfe"}"#, #"{"p":"a text that is longer than a short one, by far"}"#,
        ])
        #expect(try source.keys(#"find p = "café""#) == ["0", "1"])
        #expect(try source.keys("find p = \"cafe\u{301}\"") == ["0", "1"])
        #expect(try source.keys(#"find p = "K""#) == ["2", "3"])
        #expect(try source.keys(#"find p contains "e""#) == ["4", "5"])
        #expect(try source.keys(#"find p icontains "STRASSE""#) == ["4"])
        #expect(try source.keys(#"find count(p) = 4"#) == ["0", "1"])
        #expect(try source.keys(#"find p = "a text that is longer than a short one, by far""#) == ["5"])
    }

    @Test("numbers of any size compare exactly") func numbersCompareExactly() throws {
        let source = try ListSource(json: [
            #"{"p":18446744073709551616}"#, #"{"p":-18446744073709551617}"#, #"{"p":0.1}"#,
            #"{"p":0.10000000000000000000001}"#, #"{"p":1e400}"#, #"{"p":9223372036854775808}"#,
            #"{"p":-9223372036854775809}"#,
        ])
        #expect(try source.keys("find p > 18446744073709551615") == ["0", "4"])
        #expect(try source.keys("find p < -9223372036854775808") == ["1", "6"])
        #expect(try source.keys("find p = 0.1") == ["2"])
        #expect(try source.keys("find p > 0.1 and p < 1") == ["3"])
        #expect(try source.keys("find p > 9223372036854775807 and p < 1e19") == ["5"])
        #expect(try source.keys("find p > 1.7976931348623157e308") == ["4"])
        #expect(try source.keys("sort p | limit 3") == ["1", "6", "2"])
    }

    @Test("a number stored as a decimal fraction is no list") func numbersAreNoLists() throws {
        let source = try ListSource(json: [#"{"v":12345678901234567890.5}"#, #"{"v":[-1,2]}"#])
        #expect(try source.keys("find v[] = -1") == ["1"])
        #expect(try source.keys("find v[0] = -1") == ["1"])
        #expect(try source.keys("find v[0] is null") == ["0"])
        #expect(try source.keys("find v > 1") == ["0"])
    }

    @Test("a stored number is found by its own text, and adjacent numbers aren't")
    func numberLiteralsAreExact() throws {
        let numbers = [
            "9007199254740992", "9007199254740993.0", "9007199254740994.0", "18446744073709551615",
            "18446744073709551616", "18446744073709551617", "-9223372036854775809", "-18446744073709551617",
            "99999999999999999999", "1e400", "1.5e400", "-1e400", "0.1", "0.10000000000000000000001",
            "1e-400", "0",
            String(repeating: "7", count: 16_384),
        ]
        let source = try ListSource(json: numbers.map { #"{"p":\#($0)}"# })
        for (place, number) in numbers.enumerated() {
            for condition in ["p = \(number)", "p in [\(number)]", "p between \(number) and \(number)"] {
                #expect(try source.keys("find " + condition) == ["\(place)"], "\(condition.prefix(60))")
            }
            let others = try source.keys("find p < \(number) or p > \(number)")
            #expect(others.count == numbers.count - 1, "\(number.prefix(60))")
        }
        #expect(try source.keys("find p + 0 = 9007199254740993.0") == ["1"])
        #expect(try source.keys("find p - 99999999999999999999 = 0") == ["8"])
        let error = #expect(throws: QuerySyntaxError.self) {
            try QueryPipeline("find p = " + String(repeating: "7", count: 16_385))
        }
        #expect(error?.description.contains("too many digits") == true)
        #expect(error.map { $0.description.count < 300 } == true)
    }

    @Test("numbers beyond floating point are infinite in calculations and figures")
    func hugeNumbersAreInfinite() throws {
        let source = try ListSource(json: ["1e400", "-1e400", "1e-400", "5"].map { #"{"c":\#($0)}"# })
        #expect(try source.keys("find c * 1 > 1.7e308") == ["0"])
        #expect(try source.keys("find c + 1 < -1.7e308") == ["1"])
        #expect(try source.keys("find c * 1 = 0") == ["2"])
        for figure in ["sum c", "avg c", "median c", "percentile c 90", "max c"] {
            let query = "find c >= 5 | \(figure) as figure | find figure > 1.7e308 | count"
            #expect(try source.columns(query) == [["1"]], "\(figure)")
        }
    }

    /// Lists are looked up by another method than single values.
    @Test("`in` a list matches the rows that equal one of its items") func listsMatchTheirItems() throws {
        let numbers = [
            "0", "-0.0", "7", "7.0", "0.1", "0.10000000000000000000001", "2.5", "18446744073709551615",
            "18446744073709551616", "18446744073709551616.0", "36893488147419103232.0", "1e300", "1e400",
            "-1e300",
            "9007199254740992.0", "9007199254740993", "-9223372036854775808", "-9223372036854775809",
        ]
        let texts = [
            "", "K", "\u{212a}", "k", "caf\u{e9}", "cafe\u{301}", "cafe", "7", "\u{e9}", "e\u{301}", "e",
            String(repeating: "e\u{301}\u{323}", count: 700),
            String(repeating: "e\u{323}\u{301}", count: 700),
        ]
        let stored = numbers + ["true", "false", "null"] + texts.map { "\"\($0)\"" }
        let one = try ListSource(json: stored.map { #"{"p":\#($0)}"# })
        let several = try ListSource(
            json: stored.indices.map { place in
                #"{"p":[\#(stored[place]),\#(stored[(place * 7 + 3) % stored.count])]}"#
            } + texts.map { "{\"p\":\"\($0)\"}" })
        var random = SeededGenerator(seed: 20)
        var met = 0
        for _ in 0..<200 {
            let items = stored.shuffled(using: &random).prefix(Int.random(in: 1...6, using: &random))
            let list = "[" + items.joined(separator: ", ") + "]"
            let equal = try one.keys("find " + items.map { "p = \($0)" }.joined(separator: " or "))
            #expect(try one.keys("find p in \(list)") == equal, "\(list)")
            let any = try several.keys("find " + items.map { "p has \($0)" }.joined(separator: " or "))
            #expect(try several.keys("find p has any \(list)") == any, "\(list)")
            let all = try several.keys("find " + items.map { "p has \($0)" }.joined(separator: " and "))
            #expect(try several.keys("find p has all \(list)") == all, "\(list)")
            met += equal.count + all.count
        }
        #expect(met > 400)
        for value in stored {
            let equal = try one.keys("find p = \(value)")
            let arrays = try several.keys("find p has \(value)").compactMap(Int.init).filter {
                $0 < stored.count
            }
            let expected = stored.indices.filter { index in
                [index, (index * 7 + 3) % stored.count].contains { equal.contains(String($0)) }
            }
            #expect(arrays == expected, "\(value)")
        }
    }

    @Test("NaN differs from each number and has no order") func nanDiffersFromNumbers() throws {
        let source = ListSource([
            ListSource.Entry(key: "nan", value: try CBOREncoder().encode(["p": Double.nan])),
            ListSource.Entry(key: "infinite", value: try CBOREncoder().encode(["p": Double.infinity])),
        ])
        #expect(try source.keys("find p != 1") == ["nan", "infinite"])
        #expect(try source.keys("find p > 1") == ["infinite"])
        #expect(try source.keys("find not p > 1") == ["nan"])
        #expect(try source.keys("sort p desc") == ["infinite", "nan"])
    }

    @Test("dates compare in the forms that the codec writes") func encodedDates() throws {
        let dates = [0, 1_769_850_000, 1_769_850_000.5, 1_769_850_000.123_456_7, -1e9, 0.1].map {
            Date(timeIntervalSince1970: $0)
        }
        var entries = try dates.enumerated().map { index, date in
            ListSource.Entry(key: String(index), value: try CBOREncoder().encode(["p": date]))
        }
        var tagged = CBORWriter()
        tagged.beginMap(count: 1)
        tagged.write("p")
        tagged.write(tag: 0)
        tagged.write("2026-01-31T09:00:00Z")
        entries.append(ListSource.Entry(key: "text", value: tagged.bytes))
        let source = ListSource(entries)
        #expect(try source.keys("find p = 1970-01-01") == ["0"])
        #expect(try source.keys("find p = 2026-01-31T09:00:00Z") == ["1", "text"])
        #expect(try source.keys("find p > 2026-01-31T09:00:00Z") == ["2", "3"])
        #expect(try source.keys("find p between 1938-01-01 and 1970-01-01") == ["0", "4"])
        #expect(try source.keys("find p > 0") == [])
        #expect(try source.keys("sort p desc") == ["2", "3", "1", "text", "5", "0", "4"])
    }

    @Test func metadata() throws {
        let now = Timestamp(microseconds: 1_000_000_000)
        func time(_ seconds: Int64) -> Timestamp {
            Timestamp(microseconds: now.microseconds + seconds * 1_000_000)
        }
        let value = try JSONTranscoder.cbor(from: "{}")
        let source = ListSource([
            ListSource.Entry(
                key: "a", value: value, created: time(-100), accessed: time(-10), expires: time(60), hits: 3,
                tier: .both,
                owner: "api"),
            ListSource.Entry(key: "b", value: value, created: time(-50), accessed: time(-40)),
        ])
        for (condition, expected) in [
            ("@key = \"a\"", ["a"]), ("@key in [\"b\", \"c\"]", ["b"]), ("@key contains \"b\"", ["b"]),
            ("@size = 1B", ["a", "b"]), ("@idle > 20s", ["b"]), ("@idle = 10s", ["a"]),
            ("@age >= 100", ["a"]), ("@ttl <= 1m", ["a"]), ("@ttl is null", ["b"]),
            ("@expires > 1970-01-01", ["a"]), ("@expires is null", ["b"]), ("@hits > 2", ["a"]),
            ("@tier = \"disk\"", ["b"]), ("@owner = \"api\"", ["a"]), ("@owner != \"api\"", ["b"]),
            ("@rank = 1", ["a"]), ("@rank > 1", ["b"]), ("@created < 1970-01-01T00:15:01Z", ["a"]),
            ("@accessed between 1970-01-01T00:15:00Z and 1970-01-01T00:16:10Z", ["b"]),
        ] {
            #expect(try source.keys("find " + condition, now: now) == expected, "\(condition)")
        }
        #expect(try source.keys("sort @ttl desc, @key desc", now: now) == ["a", "b"])
        #expect(try source.keys("sort @rank desc", now: now) == ["b", "a"])
    }

    @Test func valuesInOtherEncodings() throws {
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["p": 3, "t": ["x", true], "d": Date(timeIntervalSince1970: 0)]
                as [String: Any], format: .binary,
            options: 0)
        let source = ListSource([
            ListSource.Entry(key: "json", value: Array(#" {"p":3}"#.utf8), encoding: .json),
            ListSource.Entry(key: "guessed", value: Array(#"{"p":3}"#.utf8), encoding: .unknown),
            ListSource.Entry(key: "list", value: Array(list), encoding: .propertyList),
            ListSource.Entry(key: "guessed list", value: Array(list), encoding: .unknown),
            ListSource.Entry(
                key: "cbor", value: try JSONTranscoder.cbor(from: #"{"p":3}"#), encoding: .unknown),
            ListSource.Entry(key: "text", value: Array("hello".utf8), encoding: .text),
            ListSource.Entry(key: "no json", value: Array("{".utf8), encoding: .json),
            ListSource.Entry(key: "no cbor", value: [0xa1, 0x61, 0x70, 0x1b], encoding: .cbor),
        ])
        let (rows, report) = try source.answer("find p = 3")
        #expect(rows.map { $0.entry?.key } == ["json", "guessed", "list", "guessed list", "cbor"])
        #expect(report.unreadable == 2 && report.damaged == 0)
        #expect(report.warnings == ["2 values are not in the declared encoding, and matched nothing"])
        #expect(report.transcoded == 6)
        #expect(try source.keys("find t[1] = true and d = 1970-01-01") == ["list", "guessed list"])
        // Unreadable values meet no condition, not even a negated one.
        #expect(try source.keys("find not p = 3") == ["text"])
    }

    @Test("damaged entries are counted, deleted ones are not") func deletedEntriesAreNotCounted() throws {
        var source = try ListSource(json: [#"{"p":1}"#, #"{"p":1}"#, #"{"p":1}"#])
        source.entries[0].isDamaged = true
        source.entries[1].isRemoved = true
        let (rows, report) = try source.answer("find p = 1")
        #expect(rows.map { $0.entry?.key } == ["2"])
        #expect(report.unreadable == 1 && report.damaged == 1)
        #expect(
            report.warnings == ["1 damaged entry was left out; run a check to locate the damage"]
        )
    }

    /// The key of a damaged entry is unknown.
    @Test("damaged entries are no rows and belong to no group") func damagedEntriesAreNoRows() throws {
        var source = try ListSource(json: [#"{"p":1}"#, #"{"p":1}"#, #"{"p":1}"#, #"{"p":2}"#])
        source.entries[0].isDamaged = true
        source.entries[1].isRemoved = true
        for query in ["", "select p", "sort p", "sort @size", "skip 0 | limit 2"] {
            let (rows, report) = try source.answer(query)
            #expect(rows.map { $0.entry?.key } == ["2", "3"], "\(query)")
            #expect(report.damaged == 1)
        }
        for query in ["distinct p", "group by p count | select p"] {
            #expect(try source.columns(query) == [["1"], ["2"]], "\(query)")
        }
        #expect(try source.keys("limit 1") == ["2"])
        #expect(try source.keys("skip 1 | limit 1") == ["3"])
    }

    @Test("an invalid regular expression is an error") func invalidPatterns() throws {
        #expect(throws: QueryError.invalidPattern("(")) {
            try ListSource([]).answer(#"find p matches "(""#)
        }
    }

    @Test("a text that exceeds the regular expression's time limit is counted as unevaluated")
    func slowPatterns() throws {
        let text = String(repeating: "a", count: 60) + "b"
        let source = try ListSource(json: [#"{"p":"\#(text)"}"#])
        let (rows, report) = try source.answer(#"find p matches "^(a+)+$""#)
        #expect(rows.isEmpty)
        #expect(report.givenUp == 1 && report.unevaluated == 1 && report.isDoubtful)
        // The negation doesn't match either.
        #expect(try source.keys(#"find not p matches "^(a+)+$""#) == [])
    }
}
