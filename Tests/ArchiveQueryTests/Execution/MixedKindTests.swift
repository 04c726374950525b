import ArchiveQuery
import CBOR
import Foundation
import StorageEngine
import Testing

/// Values of several kinds in one property, in every stage.
@Suite("Mixed kinds") struct MixedKindTests {
    private func report(_ query: String, of source: ListSource) throws -> QueryReport {
        try source.answer(query).report
    }

    @Test("min and max aggregate numbers if there is one, in any order of the entries")
    func extremesAreOfOneKind() throws {
        let texts = [
            #"{"n":5}"#, #"{"n":"1"}"#, #"{"n":"n/a"}"#, #"{"n":true}"#, #"{"n":7}"#, #"{"n":[9]}"#, "{}",
        ]
        for turn in texts.indices {
            let source = try ListSource(json: Array(texts[turn...] + texts[..<turn]))
            #expect(try source.columns("min n, max n") == [["5", "7"]])
            #expect(try source.columns("max n by missing") == [["-", "7"]])
        }
        let report = try report("max n", of: ListSource(json: texts))
        #expect(report.kindRemarks == ["max n: left out 1 boolean, 2 texts and 1 list"])
        #expect(!report.isDoubtful)
        let others = try ListSource(json: [#"{"n":"b"}"#, #"{"n":true}"#, #"{"n":"a"}"#])
        #expect(try others.columns("min n, max n") == [[#""a""#, #""b""#]])
    }

    @Test("the kind of a result depends on the group, and results of several kinds are reported")
    func extremesOfGroups() throws {
        let source = try ListSource(json: [
            #"{"g":1,"n":5}"#, #"{"g":1,"n":"9"}"#, #"{"g":2,"n":"a"}"#, #"{"g":3,"n":[1]}"#,
        ])
        #expect(try source.columns("max n by g") == [["1", "5"], ["2", #""a""#], ["3", "-"]])
        #expect(try report("max n by g", of: source).kindRemarks.count == 2)
    }

    @Test("sums, means and percentiles count the values that they leave out") func numbersOnly() throws {
        let source = try ListSource(json: [#"{"n":5}"#, #"{"n":"1"}"#, #"{"n":null}"#, #"{"n":{}}"#])
        for figure in ["sum n", "avg n", "median n", "percentile n 90"] {
            let report = try report(figure, of: source)
            #expect(report.kindRemarks == ["\(figure): left out 1 text and 1 map"])
        }
    }

    @Test("stages over elements count the values that are no list") func valuesWithoutElements() throws {
        let source = try ListSource(json: [#"{"l":"t"}"#, #"{"l":[1,2]}"#, #"{"l":5}"#, #"{"l":[]}"#, "{}"])
        for stage in ["distinct", "group by", "sort", "select", "count distinct"] {
            let report = try report("\(stage) l[]", of: source)
            #expect(report.kindRemarks == ["\(stage) l[]: left out 1 number and 1 text"])
            #expect(!report.isDoubtful)
        }
        let nested = try ListSource(json: [#"{"l":[{"m":5},{"m":"x"},{"m":[1]}]}"#])
        for query in ["distinct l[].m[]", "count distinct l[].m[]"] {
            #expect(
                try report(query, of: nested).kindRemarks == ["\(query): left out 1 number and 1 text"])
        }
    }

    @Test("a sort of several kinds reports how many there are of each") func sortsReportKinds() throws {
        let source = try ListSource(json: [
            #"{"n":"1"}"#, #"{"n":5}"#, #"{"n":[2]}"#, #"{"n":[1]}"#, #"{"n":2}"#,
        ])
        #expect(try source.keys("sort n") == ["4", "1", "0", "3", "2"])
        #expect(try source.keys("sort n desc") == ["2", "3", "0", "1", "4"])
        #expect(try source.keys("sort n desc | limit 2") == ["2", "3"])
        for query in ["sort n", "sort n | limit 1", "sort missing, n | limit 2"] {
            #expect(
                try report(query, of: source).kindRemarks.first?.contains("2 numbers, 1 text and 2 lists")
                    == true)
        }
        #expect(
            try report("find n > 1 | sort n", of: source).kindRemarks.contains { $0.hasPrefix("sort") }
                == false)
    }

    @Test("a negated comparison with a date selects only entries with a date")
    func negatedDates() throws {
        let source = try ListSource(json: [
            #"{"t":"2020-01-01"}"#, #"{"t":"2026-06-01"}"#, #"{"t":"n/a"}"#, #"{"t":17}"#, #"{"t":[]}"#,
        ])
        for condition in [
            "not (t > 2026-01-01)", "not t >= 2026-01-01", "t <= 2026-01-01",
            "not (t > 2026-01-01 and t < 2030-01-01)", "not t between 2026-01-01 and 2030-01-01",
        ] {
            #expect(try source.keys("find " + condition) == ["0"], "\(condition)")
            #expect(try report("find " + condition, of: source).unevaluated == 3, "\(condition)")
        }
        // A text that is no date is neither equal to a date nor different from it, even if other texts are dates.
        #expect(try source.keys("find t != 2020-01-01") == ["1", "3", "4"])
        #expect(try source.keys("find not t = 2020-01-01") == ["1", "3", "4"])
        #expect(try source.keys("find not t in [2020-01-01]") == ["1", "3", "4"])
        let report = try report("find t != 2020-01-01", of: source)
        #expect(report.unevaluated == 1)
        #expect(
            report.kindRemarks.contains(
                "t != 2020-01-01: found 1 number, 1 text that isn't a date and 1 list"))
    }

    @Test("a text that is a date counts as a date in a range with ends of two kinds")
    func endsOfTwoKinds() throws {
        let source = try ListSource(json: [#"{"t":"2026-01-31"}"#, #"{"t":"n/a"}"#, #"{"t":17}"#])
        let report = try report("find t between 2026-01-01 and 30000000", of: source)
        #expect(
            report.kindRemarks.contains {
                $0.hasSuffix("found 1 number, 1 date and 1 text that isn't a date")
            },
            "\(report.kindRemarks)")
    }

    @Test("texts that are dates are of the right kind for a date, also as elements of lists")
    func elementsThatAreDates() throws {
        let source = try ListSource(json: [#"{"l":["2026-01-31"]}"#, #"{"l":["2025-01-31","2026-02-01"]}"#])
        for condition in [
            "l[] < 2027-01-01", "l[] between 2025-01-01 and 2027-01-01", "l[] in [2026-01-31, 2026-02-01]",
        ] {
            let report = try report("find " + condition, of: source)
            #expect(report.warnings == [] && !report.isDoubtful, "\(condition): \(report.warnings)")
            #expect(try source.keys("find " + condition).count == 2)
        }
    }

    @Test("a condition on elements counts values that aren't lists, even of the compared kind")
    func conditionsOnValuesWithoutElements() throws {
        let source = try ListSource(json: [
            #"{"k":"2026-01-01"}"#, #"{"k":["2026-01-01","n/a"]}"#, #"{"k":5}"#, "{}",
        ])
        for condition in [
            #"k[] >= "2030-01-01""#, "k[] >= 2030-01-01", #"k[] = "x""#, "k[] > 9", #"k[] contains "x""#,
        ] {
            let report = try report("find " + condition, of: source)
            #expect(
                report.kindRemarks.contains { $0.hasSuffix("2 values that aren't lists") },
                "\(report.kindRemarks)")
            #expect(report.unevaluated >= 2)
        }
    }

    @Test("a key is comparable with a property that is a text") func keysAndProperties() throws {
        let source = try ListSource(json: [#"{"p":"1"}"#, #"{"p":"0"}"#])
        for condition in ["@key < p", "p > @key", "@key <= p"] {
            let report = try report("find " + condition, of: source)
            #expect(report.warnings == [] && !report.isDoubtful, "\(condition): \(report.warnings)")
            #expect(try source.keys("find " + condition) == ["0"])
        }
    }

    @Test("a value of another kind than both ends of a range is counted once") func betweenCountsOnce() throws
    {
        let source = try ListSource(json: [#"{"n":5}"#, #"{"n":"b"}"#])
        let report = try report(#"find n between "a" and "2026-01-31""#, of: source)
        #expect(report.kindRemarks.contains { $0.contains("found 1 number") }, "\(report.kindRemarks)")
        #expect(try source.keys("find n between 1 and 9") == ["0"])
    }

    @Test("a calculated date beyond the supported range is absent") func datesBeyondDates() throws {
        let source = try ListSource(json: [#"{"u":"2026-01-31"}"#])
        for shift in ["1e400", "1e300", "9007199254740993"] {
            #expect(try source.keys("find u + \(shift) is null") == ["0"], "\(shift)")
            #expect(try source.keys("find u + \(shift) > 2027-01-01") == [], "\(shift)")
        }
        #expect(try source.keys("find u + 86400 = 2026-02-01") == ["0"])
    }

    @Test("conditions on unsupported kinds are unknown, and so are their negations")
    func unknownOperators() throws {
        let source = try ListSource(json: [#"{"p":5}"#, #"{"p":"x"}"#, #"{"p":["x"]}"#, "{}"])
        for (condition, selected) in [
            (#"p has "x""#, ["2"]), (#"p contains "x""#, ["1"]), ("count(p) = 1", ["1", "2"]),
            ("p is empty", []), ("p < 9", ["0"]), ("p[] = \"x\"", ["2"]),
        ] {
            let negated = try source.keys("find not (\(condition))")
            #expect(try source.keys("find \(condition)") == selected, "\(condition)")
            // Conditions on absent properties aren't unknown.
            #expect(negated.contains("3"), "\(condition)")
            #expect(!negated.contains("0") || condition == "p < 9", "\(condition)")
        }
        #expect(try source.keys(#"find not p has "x""#) == ["3"])
        #expect(try source.keys(#"find p > 1 or p has "x""#) == ["0", "2"])
        #expect(try source.keys(#"find not (p = 5 and p has "x")"#) == ["1", "2", "3"])
    }

    @Test("lists and maps are equal by their parts, in comparisons and in groups")
    func deepEquality() throws {
        let source = try ListSource(json: [
            "{\"a\":[1,\"\u{e9}\"],\"b\":[1.0,\"e\u{301}\"]}",
            #"{"a":{"x":1,"y":[2]},"b":{"y":[2.0],"x":1}}"#,
            #"{"a":[1,2],"b":[2,1]}"#, #"{"a":{"x":null},"b":{}}"#, #"{"a":[1],"b":1}"#,
        ])
        #expect(try source.keys("find a = b") == ["0", "1"])
        #expect(try source.keys("find a != b") == ["2", "3", "4"])
        #expect(try source.keys("find not a < b") == [])
        let same = try ListSource(json: [
            #"{"l":[1]}"#, #"{"l":[1.0]}"#, #"{"l":{"a":1,"b":2}}"#, #"{"l":{"b":2,"a":1.0}}"#,
        ])
        #expect(try same.columns("distinct l | count") == [["2"]])
        #expect(try same.columns("count by l").map(\.last) == ["2", "2"])
        #expect(try same.columns("count distinct l") == [["2"]])
    }

    @Test("conversions read texts, and count those that they can't read") func conversions() throws {
        let source = try ListSource(json: [
            #"{"v":"5"}"#, #"{"v":"1e2"}"#, #"{"v":"n/a"}"#, #"{"v":7}"#, #"{"v":true}"#, #"{"v":"true"}"#,
            #"{"v":"2026-01-31"}"#, #"{"v":"12345678901234567890123"}"#, "{}",
        ])
        #expect(
            try source.columns("select number(v)").map(\.[0]) == [
                "5", "100.0", "-", "7", "1", "-", "-", "12345678901234567890123", "-",
            ])
        #expect(try source.columns("select bool(v)").map(\.[0]).filter { $0 != "-" } == ["true", "true"])
        #expect(
            try source.columns("select text(v)").map(\.[0]).prefix(5) == [
                #""5""#, #""1e2""#, #""n/a""#, #""7""#, #""true""#,
            ])
        #expect(try source.keys("find date(v) > 2026-01-01") == ["6"])
        #expect(try source.columns("max number(v), sum number(v)").first?.first == "12345678901234567890123")
        // A value that can't be converted is null: neither greater nor not greater.
        #expect(try source.keys("find not number(v) > 6") == ["0", "4", "8"])
        #expect(try source.keys("find number(v) is null") == ["2", "5", "6", "8"])
        #expect(try source.keys("find number(v) != 5") == ["1", "3", "4", "7", "8"])
        for query in [
            "select number(v)", "sort number(v)", "distinct number(v)", "count by number(v)", "max number(v)",
        ] {
            let remarks = try report(query, of: source).kindRemarks
            #expect(remarks == ["number(v): no result for 3 texts"], "\(query)")
        }
        #expect(
            try report("select v + 0", of: source).kindRemarks == [
                "v + 0: no result for 1 boolean and 5 texts"
            ])
        #expect(try report("select 1 / v", of: ListSource(json: [#"{"v":0}"#])).kindRemarks.count == 1)
        let dates = try ListSource(json: [#"{"v":"2026-01-31"}"#])
        for query in ["v / 2", "2 / v", "date(v) * 1", "1 - v"] {
            #expect(
                try report("select \(query)", of: dates).kindRemarks == ["\(query): no result for 1 date"])
        }
        for query in ["v + 9007199254740993", "v - 9007199254740993", "9007199254740993 + v"] {
            #expect(
                try report("select \(query)", of: dates).kindRemarks == ["\(query): no result for 1 number"])
        }
    }

    @Test("keys and owners are compared by bytes") func keysAreBytes() throws {
        let value = try JSONTranscoder.cbor(from: "{}")
        let source = ListSource(
            ["caf\u{e9}", "cafe\u{301}", "cafe"].map { ListSource.Entry(key: $0, value: value, owner: $0) })
        func bytes(_ query: String) throws -> [[UInt8]] { try source.keys(query).map { Array($0.utf8) } }
        let (composed, decomposed) = (Array("caf\u{e9}".utf8), Array("cafe\u{301}".utf8))
        for name in ["@key", "@owner"] {
            #expect(try bytes("find \(name) = \"caf\u{e9}\"") == [composed])
            #expect(try bytes("find \(name) in [\"cafe\u{301}\"]") == [decomposed])
            #expect(try bytes("find \(name) in [\"cafe\u{301}\", \"caf\u{e9}\"]") == [composed, decomposed])
            #expect(try bytes("find \(name) != \"caf\u{e9}\"").count == 2)
            #expect(try bytes("find \(name) starts with \"cafe\"").count == 2)
            #expect(try bytes("find \(name) contains \"\u{301}\"") == [decomposed])
            #expect(try bytes("find \(name) icontains \"CAF\u{c9}\"").count == 2)
            #expect(try bytes("find \(name) between \"caf\u{e9}\" and \"caf\u{e9}\"") == [composed])
            #expect(try source.columns("distinct \(name)").count == 3)
            #expect(try source.columns("count by \(name)").count == 3)
            #expect(try source.columns("select \(name) as k | distinct k").count == 3)
            #expect(try source.columns("select \(name) as k | find k = \"caf\u{e9}\"").count == 1)
            #expect(try source.columns("distinct text(\(name))").count == 2)
            #expect(try source.columns("count distinct \(name)") == [["3"]])
            #expect(try bytes("sort \(name)").last == composed)
        }
        #expect(try source.columns("find @key = @owner | count") == [["3"]])
        #expect(QueryPlan(try QueryPipeline("find @key = \"caf\u{e9}\"")).keys?.count == 1)
        #expect(QueryPlan(try QueryPipeline("find @key = 2026-01-31")).keys == nil)
    }

    @Test("counts are the same however many threads scan the archive")
    func threadsCountTheSame() throws {
        let things = try TemporaryArchive()
        for number in 0..<20_000 {
            let text = number % 3 == 0 ? "\"x\(number % 7)\"" : "\(number % 5)"
            try things.put("\(number)", #"{"n":\#(text),"g":\#(number % 4)}"#)
        }
        for query in [
            "find not n > 2 | count", "max n by g", "sort n | limit 3", "sum n", "distinct n",
            "select number(n) | count", "median number(n) by n + 0", "distinct g[]", "count by g[]",
            "sort g[] | limit 3", "select g[]",
        ] {
            let results = try [1, 4].map { threads in
                try things.archive.answer(query) { $0.mostThreads = threads }
            }
            #expect(results[0].rows == results[1].rows, "\(query)")
            #expect(results[0].report.kindRemarks == results[1].report.kindRemarks, "\(query)")
            #expect(results[0].report.unevaluated == results[1].report.unevaluated, "\(query)")
            #expect(!results[0].report.kindRemarks.isEmpty || query == "distinct n", "\(query)")
        }
    }

    @Test("rows in temporary files are counted once") func spilledRowsCountOnce() throws {
        let source = try ListSource(
            json: (0..<3000).map { #"{"n":\#($0 % 2 == 0 ? "\"x\"" : "\($0)"),"v":\#($0)}"# })
        for (query, count) in [
            ("count by number(n), v", 1500), ("sort number(n)", 1500), ("distinct number(n), v", 1500),
        ] {
            let report = try source.answer(query) { $0.memoryLimit = 1 << 16 }.report
            #expect(report.temporary > 0)
            #expect(report.kindRemarks == ["number(n): no result for \(count) texts"], "\(query)")
        }
    }

    @Test("a condition alone is a find") func bareConditions() throws {
        for condition in [
            "population > 5", "@key = \"a\"", "not a = 1", "(a = 1 or b = 2) and c = 3", "a.b is null",
            "number(a) > 1", "count(a) > 3", "count > 3", "a contains \"x\"", "5 < a", "a * 2 > 3",
            "\"odd name\" = 1", "a[] = 1",
        ] {
            #expect(try QueryPipeline(condition) == QueryPipeline("find " + condition), "\(condition)")
            #expect(
                try QueryPipeline("limit 3 | \(condition) | count")
                    == QueryPipeline("limit 3 | find \(condition) | count"))
        }
        for query in ["count", "count by a", "sort a", "where a = 1", "min a", "limitt 5", "sum"] {
            #expect(QueryPipeline.parse(query) != QueryPipeline.parse("find " + query), "\(query)")
        }
    }
}
