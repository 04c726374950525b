import ArchiveQuery
import Testing

@Suite("Texts of queries") struct RoundTripTests {
    @Test("random queries equal the queries read from their texts") func randomQueries() throws {
        var queries = RandomQuery(random: .announced("query round trip"))
        for _ in 0..<3000 {
            let pipeline = queries.pipeline()
            let text = pipeline.description
            #expect(QueryPipeline.parse(text) == .pipeline(pipeline), "\(text)")
        }
    }

    @Test("random conditions equal the conditions read from their texts") func randomConditions() throws {
        var queries = RandomQuery(random: .announced("query conditions"))
        for _ in 0..<1000 {
            let predicate = queries.predicate(depth: 4)
            #expect(try QueryPredicate(predicate.description) == predicate, "\(predicate)")
        }
    }

    private static let canonical: [(String, String)] = [
        ("", ""),
        ("find a=1", "find a = 1"),
        ("find a == 1 | count", "find a = 1 | count"),
        ("find (a = 1)", "find a = 1"),
        ("find a = 1 or b = 2 and not c = 3", "find a = 1 or (b = 2 and not c = 3)"),
        ("find not not a is null", "find not not a is null"),
        ("find a not in [1, 2]", "find not a in [1, 2]"),
        ("find a not contains \"x\"", "find not a contains \"x\""),
        ("find a is null or empty", "find a is null or empty"),
        ("find a is not null or empty", "find not a is null or empty"),
        ("find a[] is not null or empty", "find a[] is not empty"),
        ("find a is not null or empty = 1", "find a is not null or \"empty\" = 1"),
        ("find a is null or empty = 1", "find a is null or \"empty\" = 1"),
        ("find a is null or empty is null", "find a is null or \"empty\" is null"),
        ("find not = 1 and count > 2", "find \"not\" = 1 and \"count\" > 2"),
        ("find count(count) > 2", "find count(\"count\") > 2"),
        ("find sort = 1 and find = 2", "find \"sort\" = 1 and \"find\" = 2"),
        (
            "sort in [\"x\"] | count in [7] | sum in [1] | first in []",
            "find \"sort\" in [\"x\"] | find \"count\" in [7] | find \"sum\" in [1] | find first in []"
        ),
        ("sort in | sort in.x | sum in", "sort \"in\" | sort \"in\".x | sum \"in\""),
        ("find tags.0 = 1 and tags[1].x = 2", "find tags[0] = 1 and tags[1].x = 2"),
        ("find a[\"odd name\"] = 1", "find a.\"odd name\" = 1"),
        ("find \"odd name\".x has 1", "find \"odd name\".x has 1"),
        ("find a has all [1]", "find a has 1"),
        ("find a between 1 and 2 and b = 3", "find a between 1 and 2 and b = 3"),
        ("find @idle > 5m and @size <= 1.5KB", "find @idle > 5m and @size <= 1500B"),
        ("find @idle > 1 h and @size in [500 kB, 2 MiB]", "find @idle > 1h and @size in [500kB, 2MiB]"),
        (
            "find n + 500 kB > 3 and n - 1 h != 3 and 1 h < @age and n * 2 s = m",
            "find n + 500kB > 3 and n - 1h != 3 and @age > 1h and n * 2s = m"
        ),
        ("find @idle > 90s", "find @idle > 90s"),
        ("find @idle > 120s", "find @idle > 2m"),
        ("find @size > 2048", "find @size > 2048"),
        ("find @size > 2kib or @size < 3mb", "find @size > 2KiB or @size < 3MB"),
        ("find d > 2026-01-31", "find d > 2026-01-31"),
        ("find d > 2026-01-31T09:05Z", "find d > 2026-01-31T09:05:00Z"),
        ("find d > 2026-01-31T09:05:00.250+02:00", "find d > 2026-01-31T07:05:00.25Z"),
        ("find d > 2024-02-29T23:59:59.999999", "find d > 2024-02-29T23:59:59.999999"),
        ("find d > 2024-02-29 12:00 and e < 2024-W09-4", "find d > 2024-02-29 12:00 and e < 2024-W09-4"),
        ("find d > 2024-02-29 12:00:00 -01:30", "find d > 2024-02-29T13:30:00Z"),
        ("find d > 2024-02-29 12:00:00 -0130", "find d > 2024-02-29T13:30:00Z"),
        ("find d > 2024-02-29 12:00 +02", "find d > 2024-02-29T10:00:00Z"),
        ("find d > 2024-02-29 12:00 UTC - 90m", "find d > 2024-02-29T10:30:00Z"),
        ("find d > 20240229T12 or d = 2024060T1200Z", "find d > 20240229T12 or d = 2024-02-29T12:00:00Z"),
        ("find d > 2024-02-29T12:00+02:00[Europe/Berlin][u-ca=iso8601]", "find d > 2024-02-29T10:00:00Z"),
        ("find d > 1970-01-01Z + e", "find d > 1970-01-01T00:00:00Z + e"),
        ("find d > NOW - 90m or d < Today-1w", "find d > now - 1h30m or d < today - 7d"),
        ("find d between yesterday and tomorrow + 12h", "find d between yesterday and tomorrow + 12h"),
        ("find d in [today - 3d + 12h, now]", "find d in [today - 3d + 12h, now]"),
        ("find now - d > 3d", "find now - d > 3d"),
        ("find d - (now - 2h) > 1h", "find d - (now - 2h) > 1h"),
        ("find (now - 2h) * 1 > 1h and a - now - 2h > 1", "find (now - 2h) * 1 > 1h and a - now - 2h > 1"),
        (
            "find \"today\" = 1 and a = [\"now\"] and now.x = 2",
            "find \"today\" = 1 and a = [\"now\"] and \"now\".x = 2"
        ),
        ("find a = -1.5e3 and b = 18446744073709551615", "find a = -1500.0 and b = 18446744073709551615"),
        ("find a > 1e999 or a < -99999999999999999999", "find a > 1e999 or a < -99999999999999999999"),
        ("find a = 9007199254740993.0 or a = 1E2", "find a = 9007199254740993.0 or a = 100.0"),
        (
            "find a -9223372036854775809 > 1 and a -1e400 < 1",
            "find a - 9223372036854775809 > 1 and a - 1e400 < 1"
        ),
        ("find a = \"\\u00e9\\ud83d\\ude00\\/\"", "find a = \"é😀/\""),
        ("sort a asc, b desc|skip 1|limit 2", "sort a, b desc | skip 1 | limit 2"),
        ("sort desc desc, sort", "sort \"desc\" desc, \"sort\""),
        ("group by x", "group by x | count"),
        ("group by x | sum y, count", "group by x | sum y, count"),
        ("group by x sum y, count", "group by x | sum y, count"),
        ("group-by x | sum y", "group by x | sum y"),
        ("sum y by x", "group by x | sum y"),
        ("sum y group by x", "group by x | sum y"),
        ("sum y | group by x", "group by x | sum y"),
        ("group by x | count | count", "group by x | count | count"),
        ("count, sum x, avg y, min z, max w", "count, sum x, avg y, min z, max w"),
        ("find a = 1\n| sort b\n", "find a = 1 | sort b"),
        (
            "FIND a = 1 AND NOT b IS NULL | SORT a DESC | LIMIT 3",
            "find a = 1 and not b is null | sort a desc | limit 3"
        ),
        ("find a = TRUE or b = Null", "find a = true or b = null"),
        ("find @Key STARTS WITH \"x\"", "find @key starts with \"x\""),
        ("find a not ends with \"x\"", "find not a ends with \"x\""),
        ("find a like \"x%\" and b ILIKE \"_\"", "find a like \"x%\" and b ilike \"_\""),
        ("find a > b", "find a > b"),
        ("find 5 < a and 3 = b", "find a > 5 and b = 3"),
        ("find a = [\"odd name\"]", "find a = [\"odd name\"]"),
        ("find a+b*2>c", "find a + b * 2 > c"),
        ("find (a + b) * 2 > 3", "find (a + b) * 2 > 3"),
        ("find ((a + b)) > 3 and (a = 1)", "find a + b > 3 and a = 1"),
        ("find a - (b - c) > 0 and a -5 = 1", "find a - (b - c) > 0 and a - 5 = 1"),
        ("find a - b - c > 0", "find a - b - c > 0"),
        ("find a-b > 0", "find a-b > 0"),
        ("find @idle > 2 * 1h", "find @idle > 2 * 1h"),
        ("find items[].price > 3", "find items[].price > 3"),
        ("find a[ ].b[0] has 1", "find a[].b[0] has 1"),
        ("select a as x, b / 2 as \"half b\"", "select a as x, b / 2 as \"half b\""),
        ("sum a * b as total by c, d", "group by c, d | sum a * b as total"),
        ("group by a, sum b", "group by a | sum b"),
        ("group by a, count", "group by a, \"count\" | count"),
        ("distinct a, b", "distinct a, b"),
        ("count distinct a, median b, percentile c 99.9", "count distinct a, median b, percentile c 99.9"),
        ("percentile a + 1 95.0", "percentile a + 1 95"),
        ("sort a * b desc, c", "sort a * b desc, c"),
        ("select ü + 1 as größe, \"東京\" | sort \"ü + 1\"", "select ü + 1 as größe, 東京 | sort \"ü + 1\""),
        ("find a = [\"ü\"] and \"a\u{a0}b\" = 1", "find a = ü and \"a\u{a0}b\" = 1"),
        ("select \"a”\", \"«a\", \"a\u{2003}\"", "select \"a”\", \"«a\", \"a\u{2003}\""),
    ]

    @Test(arguments: RoundTripTests.canonical)
    func canonicalTexts(text: String, plain: String) throws {
        let pipeline = try QueryPipeline(text)
        #expect(pipeline.description == plain)
        #expect(try QueryPipeline(plain) == pipeline)
    }

    @Test("nesting is limited") func nestingLimit() {
        let deep = String(repeating: "(", count: 100_000)
        guard case .errors(let errors) = QueryPipeline.parse("find " + deep + "a = 1") else {
            Issue.record("read")
            return
        }
        #expect(errors.count == 1 && errors[0].advice?.contains("100 deep") == true)
        let open = String(repeating: "(", count: 99)
        let close = String(repeating: ")", count: 99)
        #expect(throws: Never.self) { try QueryPipeline("find " + open + "a = 1" + close) }
        #expect(throws: QuerySyntaxError.self) {
            try QueryPipeline("find " + String(repeating: "not ", count: 50_000) + "a = 1")
        }
    }

    @Test("long texts are read up to the limit") func longTexts() throws {
        let list = Array(repeating: "\"x\"", count: 100_000).joined(separator: ",")
        let pipeline = try QueryPipeline("find a in [" + list + "]")
        guard case .find(.isIn(_, let values)) = pipeline.stages[0] else {
            Issue.record("\(pipeline)")
            return
        }
        #expect(values.count == 100_000)
        guard case .errors(let errors) = QueryPipeline.parse(String(repeating: " ", count: 1 << 20 + 1))
        else {
            Issue.record("read")
            return
        }
        #expect(errors[0].description.contains("at most 1048576"))
    }

    @Test("each error of a text is reported") func severalErrors() {
        guard case .errors(let errors) = QueryPipeline.parse("find a = | limit x | sort | count") else {
            Issue.record("read")
            return
        }
        #expect(errors.map(\.position) == [9, 17, 26])
    }

    @Test("an error has its line and column") func errorLine() throws {
        let text = "find é = 1\n| sort b c\n| count"
        guard case .errors(let errors) = QueryPipeline.parse(text) else {
            Issue.record("read")
            return
        }
        let place = try #require(errors.first).place(in: text)
        #expect(place.line == 2 && place.prefix == "| sort b " && place.content == "| sort b c")
    }
}
