import TestSupport
import ArchiveQuery
import CBOR
import Testing

@Suite("Stages") struct StageTests {
    private let source: ListSource

    init() throws {
        source = try ListSource(json: [
            #"{"n":"a","g":"x","v":3,"s":{"t":1}}"#, #"{"n":"b","g":"y","v":1.5}"#,
            #"{"n":"c","g":"x","v":null}"#, #"{"n":"d","g":"y","v":7}"#, #"{"n":"e","v":3.0,"s":{"t":2}}"#,
            #"{"n":"f","g":1,"v":"text"}"#, "17",
        ])
    }

    @Test("the most recent entries are first") func recencyOrder() throws {
        #expect(try source.keys("") == ["0", "1", "2", "3", "4", "5", "6"])
        #expect(try source.keys("find v > 1 | limit 2") == ["0", "1"])
        #expect(try source.keys("skip 5") == ["5", "6"])
        #expect(try source.keys("skip 2 | limit 2 | skip 1") == ["3"])
        #expect(try source.keys("limit 0") == [])
    }

    @Test("sorts are stable, numbers before texts, absent values last in either direction")
    func stableSorts() throws {
        #expect(try source.keys("sort v") == ["1", "0", "4", "3", "5", "2", "6"])
        #expect(try source.keys("sort v desc") == ["5", "3", "0", "4", "1", "2", "6"])
        #expect(try source.keys("sort g, v desc") == ["5", "0", "2", "3", "1", "4", "6"])
        #expect(try source.keys("sort n desc | sort g") == source.keys("sort g, n desc"))
        #expect(try source.keys("sort v | limit 3") == ["1", "0", "4"])
        #expect(try source.keys("sort v | skip 1 | limit 2") == ["0", "4"])
        #expect(try source.keys("sort v desc | find v < 4 | limit 2") == ["0", "4"])
        #expect(try source.keys("limit 3 | sort v") == ["1", "0", "2"])
        #expect(try source.keys("sort s.t desc | limit 2") == ["4", "0"])
        #expect(try source.keys("sort @key desc | limit 2") == ["6", "5"])
    }

    @Test("later stages see selected properties and metadata") func selectedColumns() throws {
        #expect(
            try source.columns("limit 2 | select n, s.t, missing, @key") == [
                [#""a""#, "1", "-", #""0""#], [#""b""#, "-", "-", #""1""#],
            ])
        #expect(try source.columns("select n | sort v | limit 1") == [[#""a""#]])
        #expect(try source.columns("select s | find s.t = 2") == [[#"{"t":2}"#]])
        #expect(try source.columns("select s.t | find s.t = 2") == [["2"]])
        #expect(try source.columns("select n | find @key = \"3\"") == [[#""d""#]])
        #expect(try source.columns("sort v desc | select n | limit 1") == [[#""f""#]])
        #expect(
            QueryPlan(try QueryPipeline("select n, s.t, \"odd name\", @key, a[0].b")).columns == [
                "n", "s.t", "odd name", "@key", "a[0].b",
            ])
    }

    @Test("a column of a calculation quotes only names that need quotes") func calculatedColumns() throws {
        let source = try ListSource(json: [#"{"ü":2,"a b":5}"#, #"{"ü":1,"a b":5}"#])
        let query = #"select ü + 1, "a b" + 1 | sort "ü + 1", "\"a b\" + 1""#
        #expect(QueryPlan(try QueryPipeline(query)).columns == ["ü + 1", #""a b" + 1"#])
        #expect(try source.columns(query) == [["2", "6"], ["3", "6"]])
    }

    @Test func figures() throws {
        #expect(try source.columns("count") == [["7"]])
        #expect(try source.columns("find v > 1 | count") == [["4"]])
        #expect(try source.columns("sum v") == [["14.5"]])
        #expect(try source.columns("avg v") == [["3.625"]])
        #expect(try source.columns("min v, max v, min n") == [["1.5", "7", #""a""#]])
        #expect(
            try source.columns("find n = \"none\" | count, sum v, avg v, min v, max v") == [
                ["0", "0", "-", "-", "-"]
            ])
        #expect(
            try source.columns("sum @size") == [[String(source.entries.reduce(0) { $0 + $1.value.count })]])
        #expect(
            QueryPlan(try QueryPipeline("count, sum v, sum w, avg v")).columns == [
                "count", "sum v", "sum w", "avg",
            ])
    }

    @Test("sums are exact") func exactSums() throws {
        let source = try ListSource(json: Array(repeating: #"{"v":9007199254740993}"#, count: 3))
        #expect(try source.columns("sum v") == [["27021597764222979"]])
        let large = try ListSource(json: Array(repeating: #"{"v":18446744073709551615}"#, count: 2))
        #expect(try large.columns("sum v") == [["36893488147419103230"]])
        let floats = try ListSource(json: [#"{"v":1e100}"#, #"{"v":1}"#, #"{"v":-1e100}"#, #"{"v":0.5}"#])
        #expect(try floats.columns("sum v") == [["1.5"]])
        // The integers are added exactly, before the floating-point numbers.
        let mixed = try ListSource(
            json: Array(repeating: #"{"v":9007199254740993}"#, count: 3) + [#"{"v":0.5}"#])
        let sum = try #require(try mixed.columns("sum v, avg v").first)
        #expect(sum.compactMap(Double.init) == [27_021_597_764_222_980, 6_755_399_441_055_745])
    }

    @Test("groups are in the order of their values, and can be filtered and counted")
    func groupOrder() throws {
        #expect(
            try source.columns("group by g | count, sum v") == [
                ["1", "1", "0"], [#""x""#, "2", "3"], [#""y""#, "2", "8.5"], ["-", "2", "3.0"],
            ])
        #expect(try source.columns("sum v by g | sort sum desc | limit 1") == [[#""y""#, "8.5"]])
        #expect(try source.columns("group by g | find g = \"x\"") == [[#""x""#, "2"]])
        #expect(try source.columns("group by g | count | count") == [["4"]])
        #expect(try source.columns("group by g | count | max count, sum count") == [["2", "7"]])
        #expect(try source.columns("group by v | find v = 3") == [["3.0", "2"]])
        #expect(try source.columns("group by s | count").count == 3)
    }

    @Test("distinct values are in the order of their first rows") func distinctOrder() throws {
        #expect(try source.columns("distinct g") == [[#""x""#], [#""y""#], ["-"], ["1"]])
        #expect(
            try source.columns("sort n desc | find n is not null | distinct g | limit 2") == [["1"], ["-"]])
        #expect(try source.columns("distinct v").count == 5)
        #expect(try source.columns("distinct g | count") == [["4"]])
    }

    @Test("a limit after a sort gives the first rows of the whole sort") func topRows() throws {
        var random = SeededGenerator.announced("top rows")
        let many = try ListSource(
            json: (0..<3000).map { _ in
                #"{"v":\#(Int.random(in: 0..<50, using: &random)),"w":\#(Int.random(in: 0..<9, using: &random))}"#
            })
        for query in ["sort v", "sort v desc", "sort v, w desc", "sort w desc, v desc", "sort @size, v"] {
            let all = try many.keys(query)
            for most in [1, 10, 300, 2999, 4000] {
                #expect(
                    try many.keys(query + " | limit \(most)") == Array(all.prefix(most)), "\(query), \(most)")
            }
            #expect(try many.keys(query + " | skip 100 | limit 10") == Array(all.dropFirst(100).prefix(10)))
        }
    }

    @Test("a query reports progress and can be cancelled") func cancellation() throws {
        let many = try ListSource(json: (0..<5000).map { #"{"v":\#($0)}"# })
        var reports: [QueryProgress] = []
        #expect(throws: QueryError.cancelled) {
            try many.answer("count") {
                $0.progress = {
                    reports.append($0)
                    return reports.count < 3
                }
            }
        }
        #expect(reports.map(\.visited) == [1000, 2000, 3000])
        #expect(reports.allSatisfy { $0.total == 5000 })
    }

    @Test("reading ends when no more rows are needed") func earlyEnd() throws {
        let many = try ListSource(json: (0..<5000).map { #"{"v":\#($0)}"# })
        #expect(try many.answer("find v > 10 | limit 5").report.visited == 16)
        var seen = 0
        let report = try QueryPlan(QueryPipeline("")).run(over: many) { _ in
            seen += 1
            return seen < 7
        }
        #expect(report.visited == 7 && report.rows == 7)
    }

    @Test("a plan reads values, keys and order only as needed") func plans() throws {
        func plan(_ text: String) throws -> QueryPlan { QueryPlan(try QueryPipeline(text)) }
        #expect(try plan("find v = 1 | sort v").order == .storage)
        #expect(try plan("find v = 1").order == .recency)
        #expect(try plan("find v = 1 | count").order == .storage)
        #expect(try plan("find @rank = 1 | count").order == .recency)
        #expect(try plan("limit 5 | sort v").order == .recency)
        #expect(try plan("find @size > 1 | count").readsValues == false)
        #expect(try plan("find v = 1 and @key = \"3\"").keys == ["3"])
        #expect(try plan("find @key = \"K\"").keys == ["K"])
        #expect(try plan("find @key = \"3\" or v = 1").keys == nil)
        #expect(try plan("limit 1 | find @key = \"3\"").keys == nil)
        let (_, report) = try plan("find @size > 1000 and v = 1 | count").rows(of: source)
        #expect(report.valuesRead == 0 && report.visited == 7)
        #expect(try plan("find v = 1 and @key = \"3\"").rows(of: source).report.visited == 1)
    }

    @Test(
        "values are neither read nor counted if metadata decide the condition",
        arguments: [
            (#"v > 2 and @key starts with "3""#, ["3"], 1), (#"v > 2 and @key ends with "3""#, ["3"], 1),
            (#"v > 2 and @key contains "3""#, ["3"], 1), (#"v > 2 and @key like "3%""#, ["3"], 1),
            (#"v > 2 and @key matches "^3$""#, ["3"], 1), (#"v > 2 and @key in ["3", "9"]"#, ["3"], 1),
            (#"v > 2 and @key between "3" and "30""#, ["3"], 1), (#"v > 2 and not @key > "0""#, ["0"], 1),
            (#"n like "%d" and v > 2 and @key starts with "3""#, ["3"], 1),
            (#"v > 2 and (@key contains "3" or @key contains "4")"#, ["3", "4"], 2),
            (#"not (v <= 2 or not @key contains "3")"#, ["3"], 1),
            (#"v > 2 and @tier = "memory""#, [], 0), ("v > 2 and @ttl > 0", [], 0),
            (#"v > 7 or @key < "5""#, ["0", "1", "2", "3", "4"], 2),
            (#"not (v > 2 and @key = "9")"#, ["0", "1", "2", "3", "4", "5", "6"], 0),
        ])
    func metadataFirst(condition: String, keys: [String], values: Int) throws {
        let (rows, report) = try source.answer("find \(condition) | select @key")
        #expect(rows.map { $0.entry?.key } == keys && report.valuesRead == values)
        // The text "text" is the value of an entry that the key excludes, except where the key doesn't decide.
        #expect(report.kindRemarks.isEmpty == !condition.hasPrefix("v > 7"))
    }

    @Test("a report counts rows and time of each stage") func stageReports() throws {
        let report = try source.answer("find v > 1 | sort v | limit 2") { $0.measuresStages = true }.report
        #expect(report.stages.map(\.text) == ["find v > 1", "sort v", "limit 2"])
        #expect(report.stages.map(\.rowsIn) == [7, 4, 2])
        #expect(report.stages.map(\.rowsOut) == [4, 2, 2])
        #expect(report.stages.allSatisfy { $0.duration != nil })
        #expect(report.rows == 2)
    }

    @Test("lists of equal texts are equal, whatever the bytes of the texts")
    func listsOfEqualTextsAreEqual() throws {
        let source = try ListSource(json: [
            "{\"t\":\"\u{e9}\",\"l\":[\"\u{e9}\"]}", "{\"t\":\"e\u{301}\",\"l\":[\"e\u{301}\"]}",
            "{\"t\":\"\u{e9}\",\"l\":[\"\u{e9}\"]}",
        ])
        #expect(try source.columns("distinct t | count") == [["1"]])
        #expect(try source.columns("distinct l | count") == [["1"]])
        #expect(try source.columns("group by l | find count = 3 | count") == [["1"]])
    }

    @Test("a number has one group in any encoding") func numbersInGroups() throws {
        let texts = ["100000000000000000000", "100000000000000000000.0", "1e20", "1E+20"]
        let source = try ListSource(json: texts.map { #"{"n":\#($0)}"# })
        #expect(try source.columns("group by n | count").map(\.last) == ["4"])
        #expect(try source.columns("distinct n").count == 1)
        // Five as integer, bignum, decimal fraction and float, and a half as fraction and float.
        let five: [[UInt8]] = [
            [0x05], [0xc2, 0x41, 0x05], [0xc4, 0x82, 0x20, 0x18, 0x32], [0xf9, 0x45, 0x00],
        ]
        let half: [[UInt8]] = [[0xc4, 0x82, 0x20, 0x05], [0xf9, 0x38, 0x00]]
        let entries = (five + half).enumerated().map { number, item in
            ListSource.Entry(key: "\(number)", value: [0xa1, 0x61, 0x6e] + item)
        }
        #expect(try ListSource(entries).columns("group by n | count").map(\.last) == ["2", "4"])
        #expect(try ListSource(entries).columns("find n = 5 | count") == [["4"]])
    }
}
