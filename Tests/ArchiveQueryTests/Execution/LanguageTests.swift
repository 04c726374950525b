import ArchiveQuery
import CBOR
import Foundation
import StorageEngine
import TestSupport
import Testing

/// Calculations, comparisons of two properties, elements of lists, names of columns, and figures.
@Suite("The language over rows") struct LanguageTests {
    private let orders: ListSource

    init() throws {
        orders = try ListSource(json: [
            #"{"n":"a","c":"ID","city":"Jakarta","price":10,"amount":3,"min":5,"max":9,"items":[{"price":1,"tags":["x","y"]},{"price":7}]}"#,
            #"{"n":"b","c":"ID","city":"Bandung","price":2.5,"amount":2,"min":7,"max":7,"items":[]}"#,
            #"{"n":"c","c":"FR","city":"Paris","price":9223372036854775807,"amount":2,"min":9,"max":1,"items":[{"price":7,"tags":["x"]},{}]}"#,
            #"{"n":"d","c":"FR","city":"Paris","price":"text","amount":0,"min":"a","max":1}"#,
            #"{"n":"e","city":"Lyon","price":7,"amount":0}"#,
        ])
    }

    private static let matches: [(String, [String])] = [
        ("min < max", ["0"]), ("min = max", ["1", "4"]), ("min >= max", ["1", "2"]),
        ("min != max", ["0", "2", "3"]),
        ("city > c", ["0", "2", "3"]), ("n = [\"n\"]", ["0", "1", "2", "3", "4"]),
        ("price * amount = 30", ["0"]), ("price * amount = 5", ["1"]), ("price / amount > 3", ["0", "2"]),
        ("price / amount is null", ["3", "4"]), ("price - min - max = -4", ["0"]),
        ("price - (min - max) = 14", ["0"]), ("(price + 1) * 2 = 22", ["0"]),
        ("price + amount * 2 = 16", ["0"]),
        ("2 * price between 5 and 20", ["0", "1", "4"]), ("price + amount in [13, 4.5]", ["0", "1"]),
        // Integers beyond 64 bits are floating point.
        ("price * 2 = 18446744073709551614", ["2"]), ("price * 4 = 36893488147419103232.0", ["2"]),
        ("price + 0.5 > 9e18", ["2"]), ("max + min > price", ["0", "1"]), ("items[].price = 7", ["0", "2"]),
        ("items[].price > 1 and items[].price < 2", ["0"]), ("items[].price between 2 and 6", []),
        ("items[].price < max", ["0"]), ("items[].price is null", ["2"]),
        ("not items[].price = 7", ["1", "3", "4"]), ("items[].tags[] = \"y\"", ["0"]),
        ("items[].tags has \"x\"", ["0", "2"]), ("items[0].tags[] starts with \"y\"", ["0"]),
        ("count(items[].tags) = 2", ["0"]), ("items[] is not null", ["0", "2"]), ("city[] = \"Paris\"", []),
    ]

    @Test(arguments: LanguageTests.matches)
    func conditions(condition: String, keys: [String]) throws {
        #expect(try orders.keys("find " + condition) == keys)
    }

    @Test func columnNames() throws {
        #expect(
            try orders.columns("limit 2 | select n as name, price * amount as total, price / 4") == [
                [#""a""#, "30", "2.5"], [#""b""#, "5.0", "0.625"],
            ])
        #expect(
            QueryPlan(try QueryPipeline("select n as name, price * amount, items[].price")).columns == [
                "name", "price * amount", "items[].price",
            ])
        #expect(try orders.columns("select price as p | find p < 5") == [["2.5"]])
        #expect(try orders.columns("select price * amount | find price * amount = 30") == [["30"]])
        #expect(try orders.columns("select price as p | find price < 5") == [])
        #expect(try orders.columns("select items as list | find list[].price = 7 | count") == [["2"]])
        #expect(
            try orders.columns("select items[].price | limit 3") == [["[1,7]"], ["[]"], ["[7,null]"]])
        #expect(try orders.columns("select items[].price | find items[].price = 1 | count") == [["1"]])
        #expect(try orders.columns("sum amount as s, sum min as t | select s - t") == [["-14"]])
        #expect(
            QueryPlan(try QueryPipeline("count as n, sum a, percentile a 95, percentile a 99.5, median b"))
                .columns
                == ["n", "sum", "p95", "p99.5", "median"])
        #expect(try orders.keys("sort price * amount desc | limit 2") == ["2", "0"])
    }

    @Test("later stages take each column by its name in quotes") func quotedColumns() throws {
        let source = try ListSource(json: [
            #"{"v":1,"w":5,"b":{"c":7}}"#, #"{"v":2,"w":4,"b":{"c":8}}"#,
        ])
        for (query, expected) in [
            (#"select v, w as v | sort "v 2" | select "v 2""#, [["4"], ["5"]]),
            (#"select v, v | find "v 2" = 2"#, [["2", "2"]]),
            (#"select v, w as v | find v < ["v 2"] and "v 2" > 4"#, [["1", "5"]]),
            (#"distinct v, w as v | group by "v 2" | sort "v 2" desc"#, [["5", "1"], ["4", "1"]]),
            (#"group by v, w as v | sort "v 2" desc | limit 1"#, [["1", "5", "1"]]),
            (#"sum v, sum v | select "sum v 2""#, [["3"]]),
            (#"select w as "b.c" | find "b.c" > 4"#, [["5"]]),
            (#"select b.c, v as "b.c" | select "b.c 2", "b.c""#, [["1", "7"], ["2", "8"]]),
            (#"select b.c | sort "b.c" desc | limit 1"#, [["8"]]),
            (#"select v * 2 | select "v * 2" + 1"#, [["3"], ["5"]]),
            (#"select v, b as v | select "v 2".c"#, [["7"], ["8"]]),
        ] {
            #expect(try source.columns(query) == expected, "\(query)")
        }
    }

    @Test("a column of elements has one element in each row after distinct and groups, a list after select")
    func columnsOfElements() throws {
        let source = try ListSource(json: [#"{"l":[3,{"p":1},2]}"#, #"{"l":[2]}"#])
        for (query, expected) in [
            ("distinct l[] | find l[] > 1 | sort l[]", [["2"], ["3"]]),
            (
                "distinct l[] | select l[] as e, l[].p | find e > 2 or l[].p = 1",
                [["3", "-"], [#"{"p":1}"#, "1"]]
            ),
            ("group by l[] | sort l[] desc | limit 1", [[#"{"p":1}"#, "1"]]),
            ("group by l[] | find l[] = 2 | select l[], count", [["2", "2"]]),
            (#"distinct l[] | find "l[]" + 1 = 4"#, [["3"]]),
            ("select l[] | find l[].p = 1 | count", [["1"]]),
            (#"select l[] | find count("l[]") = 1"#, [["[2]"]]),
        ] {
            #expect(try source.columns(query) == expected, "\(query)")
        }
    }

    @Test func groupsOfSeveralProperties() throws {
        #expect(
            try orders.columns("group by c, city | count") == [
                [#""FR""#, #""Paris""#, "2"], [#""ID""#, #""Bandung""#, "1"], [#""ID""#, #""Jakarta""#, "1"],
                ["-", #""Lyon""#, "1"],
            ])
        #expect(
            try orders.columns("sum amount as total by c as country, amount / 2 as half | find half > 1") == [
                [#""ID""#, "1.5", "3"]
            ])
        #expect(
            try orders.columns("distinct c, city") == [
                [#""ID""#, #""Jakarta""#], [#""ID""#, #""Bandung""#], [#""FR""#, #""Paris""#],
                ["-", #""Lyon""#],
            ])
        #expect(try orders.columns("distinct c, city | count") == [["4"]])
        // Each row is counted once in the group of each of its elements.
        #expect(
            try orders.columns("group by items[].tags[] | count") == [[#""x""#, "2"], [#""y""#, "1"]])
        #expect(try orders.columns("distinct items[].price") == [["1"], ["7"], ["-"]])
        #expect(
            try orders.columns("group by c, items[].price | count") == [
                [#""FR""#, "7", "1"], [#""FR""#, "-", "1"], [#""ID""#, "1", "1"], [#""ID""#, "7", "1"],
            ])
    }

    @Test("a grouping by the name of a figure groups the row of figures; other groupings group the entries")
    func groupsOfFigures() throws {
        #expect(try orders.columns("count as n | group by n as g | count as m") == [["5", "1"]])
        for query in ["max amount as amount | group by amount", "max amount | group by max + 0 as most"] {
            #expect(try orders.columns(query) == [["3", "1"]], "\(query)")
        }
        let expected = try orders.columns("group by c | sum amount")
        #expect(try orders.columns("sum amount | group by c") == expected)
        #expect(try orders.columns("sum amount by c") == expected)
    }

    @Test(
        "the text of a number is exact, and reads as the same number",
        arguments: [
            ("1000000000000000000000000000000", "1000000000000000000000000000000"),
            ("-170141183460469231731687303715884105727", "-170141183460469231731687303715884105727"),
            (
                "12345678901234567890123456789012345678901234567",
                "12345678901234567890123456789012345678901234567"
            ),
            ("1e30", "1000000000000000019884624838656"), ("1e35", "1" + String(repeating: "0", count: 35)),
            ("1e300", "1.0e+300"), ("125e39", "1.25e+41"), ("0.000001", "0.000001"), ("-1e-7", "-1.0e-7"),
            ("12345678901234567890123.5", "12345678901234567890123.5"), ("-0.0", "0"), ("5.0", "5"),
            ("1e21", "1000000000000000000000"), ("-1e22", "-10000000000000000000000"),
            ("1e23", "99999999999999991611392"), ("1.152921504606847e18", "1152921504606846976"),
            ("1234567890123456789012.0", "1234567890123456789012"), ("0.25", "0.25"),
            ("12345678901234567890123456789012345", "12345678901234567890123456789012345"),
        ])
    func exactTexts(number: String, text: String) throws {
        let source = try ListSource(json: ["{\"n\":\(number)}"])
        #expect(try source.columns("select text(n)") == [["\"\(text)\""]])
        #expect(try source.keys("find number(text(n)) = n") == ["0"])
        #expect(try source.columns("select number(text(n)) as m | find number(text(m)) = m").count == 1)
    }

    @Test("percentiles at a whole rank and between equal numbers are exact") func exactPercentiles() throws {
        let numbers = ["1267650600228229401496703205377", "1267650600228229401496703205377", "5"]
        let source = try ListSource(json: numbers.map { "{\"n\":\($0)}" })
        #expect(
            try source.columns("median n, percentile n 75, percentile n 0, max n") == [
                [numbers[0], numbers[0], "5", numbers[0]]
            ])
    }

    @Test(
        "integers of more than 64 bits stay integers in percentiles and conversions",
        arguments: [
            "18446744073709551616", "-18446744073709551617", "1267650600228229401496703205376",
            "12345678901234567890123456789012345678901234567890", "1" + String(repeating: "0", count: 400),
        ])
    func largeIntegers(number: String) throws {
        let source = try ListSource(json: ["{\"n\":\(number),\"s\":\"\(number)\"}"])
        let query = "median n, percentile n 95, median number(s), min number(n), max n"
        #expect(try source.columns(query) == [Array(repeating: number, count: 5)])
        #expect(try source.columns("select number(s) as a, number(n) as b | sort a") == [[number, number]])
        #expect(try source.columns("distinct number(s)") == [[number]])
        #expect(try source.keys("find number(s) = n and n in [\(number)] and n > 5 or n < 5") == ["0"])
        let equal = try ListSource(json: ["{\"n\":\(number)}", "{\"n\":\(number)e0}"])
        #expect(try equal.columns("count distinct n") == [["1"]])
        #expect(try equal.columns("count by n").count == 1)
    }

    /// Empty lists and values of other kinds have no elements.
    @Test("an element without the property has null for it") func absentElementProperties() throws {
        let source = try ListSource(json: [
            #"{"l":[{"q":1}]}"#, #"{"l":[{"p":null}]}"#, #"{"l":[{"p":4},{"p":5}]}"#, #"{"l":[{"p":4},7]}"#,
            #"{"l":[]}"#, "{}", #"{"l":{"p":4}}"#, #"{"l":[[],null]}"#, #"{"l":[{"p":[4]}]}"#,
        ])
        let lacking = ["0", "1", "3", "7"]
        for (condition, keys) in [
            ("l[].p is null", lacking), ("l[].p = null", lacking), ("l[].p in [null]", lacking),
            ("l[].p is null or empty", lacking), ("l[].p = none", lacking),
            ("l[].p != 4", ["0", "1", "2", "3", "7", "8"]),
            // The sixth has no list, so the condition is unknown for it.
            ("not l[].p is not null", ["0", "1", "4", "5", "7"]),
            ("l[].p is not null or empty", ["8"]),
            ("not l[].p is not null or empty", ["0", "1", "4", "5", "7"]),
            ("l[].p[0] is null", ["0", "1", "2", "3", "7"]), ("l[].p[] is null", []), ("l[].p[] = 4", ["8"]),
            ("l[] is null", ["7"]), ("count(l[].p) >= 0", ["8"]),
        ] {
            #expect(try source.keys("find " + condition) == keys, "\(condition)")
            // As a column, and for each entry of a list of entries.
            #expect(
                try source.columns("select l, @key | find \(condition) | select @key").map { $0[0] }
                    == keys.map { "\"\($0)\"" })
            #expect(try probed(source, condition) == keys, "\(condition)")
        }
        #expect(
            try source.columns("select l[].p") == [
                ["[null]"], ["[null]"], ["[4,5]"], ["[4,null]"], ["[]"], ["[]"], ["[]"], ["[null,null]"],
                ["[[4]]"],
            ])
        for start in ["", "select l | "] {
            #expect(
                try source.columns(start + "group by l[].p | count") == [
                    ["4", "2"], ["5", "1"], ["[4]", "1"], ["-", "4"],
                ])
            #expect(try source.columns(start + "distinct l[].p") == [["-"], ["4"], ["5"], ["[4]"]])
            #expect(
                try source.columns(start + "sum l[].p, count distinct l[].p, min l[].p, max l[].p") == [
                    ["13", "3", "4", "5"]
                ])
        }
        #expect(try source.keys("sort l[].p") == ["2", "3", "8", "0", "1", "4", "5", "6", "7"])
    }

    /// The keys of the entries that meet a condition, each evaluated separately.
    private func probed(_ source: ListSource, _ condition: String) throws -> [String] {
        let cursor = source.cursor(in: .recency)
        let probe = try EntryProbe(
            cursor, condition: QueryPredicate(condition), now: Timestamp(microseconds: 0))
        var keys: [String] = []
        while try cursor.advance() {
            probe.next()
            if case .found(true) = probe.isMet() { keys.append(cursor.key) }
        }
        return keys
    }

    @Test("an absent property differs from every value, on either side")
    func absentDiffersFromPresent() throws {
        let source = try ListSource(json: [#"{"b":{}}"#, #"{"b":[1]}"#, #"{"b":"x"}"#, #"{"b":0}"#, "{}"])
        for condition in ["a != b", "b != a"] {
            #expect(try source.keys("find " + condition) == ["0", "1", "2", "3"], "\(condition)")
        }
        for condition in ["a = b", "b = a"] {
            #expect(try source.keys("find " + condition) == ["4"], "\(condition)")
        }
        #expect(try source.keys("find a < b or b < a or a >= b or b >= a") == [])
    }

    @Test("the median of the largest numbers is finite") func medianOfLargestNumbers() throws {
        let source = try ListSource(json: [
            #"{"n":1.7976931348623157e308}"#, #"{"n":-1.7976931348623157e308}"#,
        ])
        let rows = try source.answer("median n").rows
        let median = try #require(rows.first?.columns.first ?? nil)
        #expect(try CBORReader.decode(median) == .float(0))
    }

    @Test func figures() throws {
        #expect(
            try orders.columns("count distinct c, count distinct city, count distinct none") == [
                ["2", "4", "0"]
            ])
        #expect(try orders.columns("sum items[].price, count distinct items[].price") == [["15", "2"]])
        #expect(try orders.columns("min items[].price, max items[].tags[]") == [["1", #""y""#]])
        #expect(try orders.columns("median min") == [["7"]])
        #expect(try orders.columns("median price | select median") == [["8.5"]])
        #expect(try orders.columns("median city, percentile city 95") == [["-", "-"]])
        let many = try ListSource(json: (1...101).reversed().map { #"{"v":\#($0),"g":\#($0 % 2)}"# })
        #expect(
            try many.columns("median v, percentile v 0, percentile v 95, percentile v 99.5, percentile v 100")
                == [
                    ["51", "1", "96", "100.5", "101"]
                ])
        #expect(
            try many.columns("group by g | median v, count distinct v") == [
                ["0", "51.0", "50"], ["1", "51", "51"],
            ])
        // Interpolated values are as exact as the numbers.
        let few = try ListSource(json: (0..<293).map { #"{"v":\#($0 * 10)}"# })
        #expect(try few.columns("percentile v 95") == [["2774.0"]])
        // Distinct numbers are those that compare as different.
        let same = try ListSource(
            json: ["3", "3.0", "\"3\"", "[3]", "null", "true"].map { #"{"v":\#($0)}"# })
        #expect(try same.columns("count distinct v") == [["4"]])
    }

    @Test("texts and tags are dates, other values are not") func datesAsTextsAndTags() throws {
        let source = ListSource(
            try [
                #"{"p":"2026-01-31"}"#, #"{"p":"2026-01-31T09:00:00Z"}"#,
                #"{"p":"2026-01-31T10:00:00+01:00"}"#, #"{"p":"2026-01-31 09:00:00"}"#, #"{"p":"2026-1-31"}"#,
                #"{"p":"2026-02-30"}"#, #"{"p":1769850000}"#, #"{"p":["2026-01-31"]}"#,
            ].enumerated().map { ListSource.Entry(key: "\($0)", value: try JSONTranscoder.cbor(from: $1)) }
                + [
                    ListSource.Entry(
                        key: "date",
                        value: try CBOREncoder().encode(["p": Date(timeIntervalSince1970: 1_769_850_000)]))
                ])
        #expect(try source.keys("find p = 2026-01-31T09:00:00Z") == ["1", "2", "3", "date"])
        #expect(try source.keys("find p = 2026-01-31") == ["0"])
        #expect(try source.keys("find p < 2026-02-01") == ["0", "1", "2", "3", "date"])
        #expect(try source.keys("find p != 2026-01-31") == ["1", "2", "3", "6", "7", "date"])
        #expect(
            try source.keys("find p between 2026-01-31T08:00:00Z and 2026-02-01") == ["1", "2", "3", "date"])
        #expect(try source.keys("find p in [2026-01-31T09:00:00Z, 5]") == ["1", "2", "3", "date"])
        #expect(try source.keys("find p has 2026-01-31") == ["7"])
        #expect(try source.keys("find p[] = 2026-01-31") == ["7"])
        #expect(try source.keys(#"find p = "2026-01-31T09:00:00Z""#) == ["1", "date"])
        #expect(try source.keys(#"find p in ["2026-01-31T09:00:00Z"]"#) == ["1", "date"])
        // Numbers are dates where the query gives their unit.
        #expect(try source.keys("find 1970-01-01 + p = 2026-01-31T09:00:00Z") == ["6"])
        #expect(try source.keys("find p - 2026-01-31 = 9h") == ["1", "2", "3", "date"])
        #expect(try source.keys("find p + 1d > 2026-02-01T08:00:00Z") == ["1", "2", "3", "date"])
        #expect(try source.columns("find p = 2026-01-31 | select p - 1970-01-01") == [["1769817600"]])
    }

    /// In floating point, differences with fractions of a second would be off by some 1e-8 s.
    @Test("calculations with fractions of seconds are exact") func fractionsOfSecondsAreExact() throws {
        var random = SeededGenerator.announced("fractions of seconds")
        let pairs = (0..<300).map { _ in
            let start = Int64.random(in: 0..<2_840_000_000_000_000, using: &random)
            return (
                start, start + Int64.random(in: -100_000_000_000_000...100_000_000_000_000, using: &random)
            )
        }
        func text(_ microseconds: Int64) -> String {
            QueryLiteral.date(microseconds: microseconds).description
        }
        let source = ListSource(
            try pairs.enumerated().map { place, pair in
                let seconds = Double(pair.1 - pair.0) / 1_000_000
                // As a text and as the codec writes it.
                let end = Date(timeIntervalSince1970: Double(pair.1) / 1_000_000)
                let value =
                    place % 2 == 0
                    ? try JSONTranscoder.cbor(
                        from: #"{"a":"\#(text(pair.0))","b":"\#(text(pair.1))","s":\#(seconds)}"#)
                    : try CBOREncoder().encode(Span(a: text(pair.0), b: end, s: seconds))
                return ListSource.Entry(key: "\(place)", value: value)
            })
        let all = pairs.indices.map(String.init)
        for condition in ["b - a = s", "a + s = b", "s + a = b", "b - s = a"] {
            #expect(try source.keys("find " + condition) == all, "\(condition)")
        }
    }

    private struct Span: Encodable {
        var a: String
        var b: Date
        var s: Double
    }

    @Test func texts() throws {
        let texts = [
            "user:1", "user:22", "User:1", "caf\u{e9}", "cafe\u{301}", "cafe", "50%", "a_b", "axb", "",
            "\u{212a}", "a\r\nb", "x.y", "Stra\u{df}e",
        ]
        let source = try ListSource(
            json: try texts.map { text in
                let value = String(decoding: try JSONEncoder().encode(["p": text]), as: UTF8.self)
                return value
            })
        func found(_ condition: String) throws -> [String] {
            try source.keys("find p " + condition).compactMap(Int.init).map { texts[$0] }
        }
        #expect(try found(#"starts with "user:""#) == ["user:1", "user:22"])
        #expect(try found(#"starts with "caf""#) == ["caf\u{e9}", "cafe\u{301}", "cafe"])
        // Parts of characters don't match.
        #expect(try found(#"starts with "cafe""#) == ["cafe"])
        #expect(try found(#"starts with "K""#) == ["\u{212a}"])
        #expect(try found(#"starts with "a\r""#) == [])
        #expect(try found(#"starts with """#).count == texts.count)
        #expect(try found(#"ends with "1""#) == ["user:1", "User:1"])
        #expect(try found("ends with \"\u{e9}\"") == ["caf\u{e9}", "cafe\u{301}"])
        #expect(try found(#"ends with "user:22 ""#) == [])
        #expect(try found(#"like "user:%""#) == ["user:1", "user:22"])
        #expect(try found(#"ilike "USER:_""#) == ["user:1", "User:1"])
        #expect(try found(#"like "caf_""#) == ["caf\u{e9}", "cafe\u{301}", "cafe"])
        #expect(try found("like \"caf\u{e9}\"") == ["caf\u{e9}", "cafe\u{301}"])
        #expect(try found(#"like "%\\%""#) == ["50%"])
        #expect(try found(#"like "a\\_b""#) == ["a_b"])
        #expect(try found(#"like "a_b""#) == ["a_b", "axb", "a\r\nb"])
        #expect(try found(#"like "%""#).count == texts.count)
        #expect(try found(#"like """#) == [""])
        #expect(try found(#"like "%e%1%""#) == ["user:1", "User:1"])
        #expect(try found(#"like "x.%""#) == ["x.y"])
        #expect(try found(#"ilike "k""#) == ["\u{212a}"])
        // One character, although it folds to two.
        #expect(try found(#"ilike "stra_e""#) == ["Stra\u{df}e"])
        #expect(try found(#"ilike "STRASSE""#) == ["Stra\u{df}e"])
        #expect(try found(#"ilike "stra__e""#) == [])
    }

    @Test("a pattern of many % takes time in proportion to its length times the text's")
    func patternTime() throws {
        let source = try ListSource(json: [#"{"p":"\#(String(repeating: "a", count: 20_000))"}"#])
        let pattern = String(repeating: "%a", count: 200) + "%b"
        #expect(try source.keys("find p like \"\(pattern)\"") == [])
        #expect(try source.keys("find p like \"\(pattern.dropLast())\"") == ["0"])
    }
}
