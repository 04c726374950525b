import ArchiveQuery
import CBOR
import Foundation
import Testing

/// A source that stores numbers as texts, and the conversion `text(x)`.
@Suite("Numbers and dates as texts") struct TextNumberTests {
    private func server(_ texts: String...) throws -> ListSource {
        var source = try ListSource(json: texts)
        source.storesNumbersAsText = true
        return source
    }

    @Test("text(x) in a list of numbers equals no number") func textsInLists() throws {
        let source = try server(#"{"n":"12"}"#, #"{"n":"12.0"}"#)
        #expect(try source.keys("find n in [12]") == ["0", "1"])
        #expect(try source.keys("find text(n) in [12]") == [])
        #expect(try source.keys(#"find text(n) in ["12"]"#) == ["0"])
    }

    @Test("a range between a number and a text applies both comparisons") func mixedRanges() throws {
        let source = try server(
            #"{"a":"5","l":["0","7"]}"#, #"{"a":"0","l":["0","x"]}"#, #"{"a":"x","l":[]}"#, #"{"a":"100"}"#)
        #expect(try source.keys(#"find a >= 1 and a <= "99""#) == ["0", "3"])
        #expect(try source.keys(#"find a between 1 and "99""#) == ["0", "3"])
        #expect(try source.keys(#"find a between "1" and 9"#) == ["0"])
        #expect(try source.keys(#"find l[] between 1 and "99""#) == ["0"])
        #expect(try source.keys("find a between 1 and 99") == ["0"])
    }

    @Test("a property compared with a text of the metadata or text(x) is a text")
    func textsAndProperties() throws {
        let source = try server(#"{"n":"0","m":"0.0"}"#, #"{"n":"1.0","m":"1"}"#)
        for condition in ["@key = n", "n = @key"] {
            #expect(try source.keys("find " + condition) == ["0"], "\(condition)")
            #expect(try source.columns("select @key, n | find \(condition) | count") == [["1"]])
        }
        #expect(try source.keys("find n = m") == ["0", "1"])
        #expect(try source.keys("find text(n) = m") == [])
        #expect(try source.keys("find n = text(m)") == [])
    }

    @Test(
        "columns of text(x) are texts in later stages",
        arguments: [
            ("select text(n) as a | find a > 5", []), ("select text(n) as a | find a in [9]", []),
            ("select text(n) as a | sort a", [["\"10\""], ["\"9\""]]),
            ("select text(n) as a | max a", [["\"9\""]]), ("select text(n) as a | sum a", [["0"]]),
            ("select text(n) as a | select a as b | find b > 5", []),
            ("distinct text(n) as a | find a > 5", []),
            ("distinct text(n) | sort text(n) | limit 1", [["\"10\""]]),
            ("count by text(n) as a | find a > 5", []), ("max text(n) as a | find a > 5", []),
            ("select n as a | sort a", [["\"9\""], ["\"10\""]]), ("select n as a | max a", [["10"]]),
        ] as [(String, [[String]])])
    func columnsOfTexts(query: String, rows: [[String]]) throws {
        #expect(try server(#"{"n":"9"}"#, #"{"n":"10"}"#).columns(query) == rows)
    }

    @Test("the least and greatest elements are numbers") func extremeElements() throws {
        let source = try server(#"{"l":["9","10","a"]}"#)
        #expect(try source.columns("min l[], max l[]") == [["9", "10"]])
    }

    @Test(
        "a text compared with a date is no mistake",
        arguments: [
            "@key < 2026-06-01", "@key between 2026-01-01 and 2026-06-01", "@key in [2026-01-01]",
            "text(d) < 2026-06-01",
        ])
    func textsAndDates(condition: String) throws {
        func entry(_ text: String) throws -> ListSource.Entry {
            ListSource.Entry(key: text, value: try JSONTranscoder.cbor(from: "{\"d\":\"\(text)\"}"))
        }
        let (date, other) = (try entry("2026-01-01"), try entry("x"))
        #expect(try ListSource([date, other]).keys("find " + condition) == ["2026-01-01"])
        for entries in [[date], [date, other], [other]] {
            let report = try ListSource(entries).answer("find " + condition).report
            #expect(!report.isDoubtful, "\(report.warnings)")
            #expect(report.unevaluated == entries.count { $0.key == "x" })
        }
    }

    @Test(
        "the text of a date is ISO 8601 without a rounding error",
        arguments: [
            (0.1, "1970-01-01T00:00:00.1Z"), (-0.000_001, "1969-12-31T23:59:59.999999Z"),
            (253_402_300_800, "+010000-01-01T00:00:00Z"), (-62_198_755_200, "-000001-01-01T00:00:00Z"),
            (-9_000_000_000_000, "-283229-05-10T08:00:00Z"),
        ] as [(Double, String)])
    func textsOfDates(seconds: Double, text: String) throws {
        let value = try CBOREncoder().encode(["d": Date(timeIntervalSince1970: seconds)])
        let source = ListSource([ListSource.Entry(key: "k", value: value)])
        let written = try source.columns("select text(d)")
        #expect(written == [["\"\(text)\""]])
        #expect(try source.keys("find date(text(d)) = d") == ["k"])
    }

    @Test("a column of a date has no rounding error") func columnsOfDates() throws {
        let source = try ListSource(json: [#"{"d":"1970-01-01T00:00:00.1Z"}"#])
        #expect(try source.columns("select date(d)") == [["0.1"]])
    }

    @Test("a half second of a distant year is exact") func distantFractions() throws {
        let source = try ListSource(json: [#"{"d":"+012026-01-31T00:00:00.5Z"}"#])
        #expect(
            try source.columns("select text(date(d)), date(d) - 1970-01-01Z") == [
                [#""+012026-01-31T00:00:00.5Z""#, "317339337600.5"]
            ])
    }

    @Test("min and max leave out a text that is too long for the memory") func longExtremes() throws {
        let long = String(repeating: "x", count: 600_000)
        let source = try ListSource(json: [#"{"s":"b"}"#, "{\"s\":\"\(long)\"}", #"{"s":"a"}"#])
        for (query, expected) in [("max s", "b"), ("min s", "a")] {
            let rows = try source.answer(query) { $0.memoryLimit = 1 << 20 }.rows
            #expect(rows.map(\.columns) == [[CBORValue.text(expected).encoded]], "\(query)")
        }
    }

    @Test("a date has no text beyond 64 bits of microseconds") func distantDates() throws {
        let value = CBORValue.map(["d": .tagged(1, .float(1e300))]).encoded
        let source = ListSource([ListSource.Entry(key: "k", value: value)])
        #expect(try source.columns("select text(d)") == [["-"]])
    }

    @Test("values that are too long for the memory are left out, and the first is named")
    func longValues() throws {
        func entry(_ key: String, _ pad: Int, _ encoding: String) throws -> ListSource.Entry {
            let json = "{\"n\":1,\"pad\":\"\(String(repeating: "x", count: pad))\"}"
            return encoding == "json"
                ? ListSource.Entry(key: key, value: Array(json.utf8), encoding: .json)
                : ListSource.Entry(key: key, value: try JSONTranscoder.cbor(from: json))
        }
        for (query, encoding, keys) in [
            ("find n > 0", "json", ["a", "d"]), ("find not n = 2 | sort n", "json", ["a", "d"]),
            ("sort n", "cbor", ["a", "b", "c", "d"]),
        ] {
            let source = ListSource([
                try entry("a", 1, encoding), try entry("b", 600_000, encoding),
                try entry("c", 600_000, encoding),
                try entry("d", 1, encoding),
            ])
            let (rows, report) = try source.answer(query) { $0.memoryLimit = 1 << 20 }
            #expect(rows.map { $0.entry?.key } == keys, "\(query)")
            #expect(rows.count { $0.value == nil } == keys.count - 2)
            #expect(report.unreadable == 2 && report.warnings.count == 1 && !report.isDoubtful)
            // The first in the order of storage or of recency.
            #expect(["\"b\"", "\"c\""].contains { report.warnings[0].contains($0) }, "\(report.warnings)")
        }
    }
}
