import ArchiveQuery
import StorageEngine
import Testing

/// Dates in queries that depend on the clock and the time zone.
@Suite("Dates in queries") struct DateLiteralTests {
    /// UTC+2 until 2026-03-01 01:00 UTC, then UTC+3.
    private static let zone = QueryTimeZone { $0 < 1_772_326_800 ? 7200 : 10_800 }
    /// 2026-03-03 00:30 in that zone.
    private static let now = Timestamp(microseconds: 1_772_487_000_250_000)

    private func moment(_ date: String) throws -> String? {
        let source = try ListSource(json: ["{}"])
        return try source.columns("select (\(date)) - 1970-01-01Z", zone: Self.zone, now: Self.now).first?
            .first
    }

    @Test(
        "a date is the moment in the query's zone at the query's time",
        arguments: [
            ("now", "1772487000.25"), ("now - 2h", "1772479800.25"), ("now - 2d", "1772314200.25"),
            ("today", "1772485200"), ("yesterday", "1772398800"), ("tomorrow", "1772571600"),
            // The day on which the clocks change has 23 hours.
            ("today - 1d", "1772398800"), ("today - 3d", "1772229600"), ("today - 72h", "1772229600"),
            ("today - 3d + 12h", "1772272800"), ("today - 60h", "1772269200"),
            ("today - 12h - 2d", "1772269200"), ("2026-02-28 + 1w", "1772830800"),
            ("2026-03-01", "1772316000"), ("2026-03-01 03:30", "1772328600"),
            ("2026-03-01 04:30", "1772328600"), ("2026-03-01T02:30", "1772325000"),
            ("2026-03-01 02:30Z", "1772332200"),
        ])
    func moments(date: String, seconds: String) throws {
        #expect(try moment(date) == seconds)
    }

    @Test("a day whose midnight is skipped begins at the change of the clocks") func skippedMidnights() throws
    {
        // From 23:30 of February 28 to 00:30.
        let change = 1_772_339_400 as Int64
        let zone = QueryTimeZone { $0 < change ? -18_000 : -14_400 }
        let source = try ListSource(json: [#"{"d":"2026-03-01"}"#])
        for (date, moment) in [
            ("2026-03-01", change), ("2026-02-28 + 1d", change), ("date(d)", change),
            ("2026-03-01 00:00", change + 1800), ("2026-03-01 00:30", change),
        ] {
            let seconds = try source.columns("select (\(date)) - 1970-01-01Z", zone: zone)
            #expect(seconds == [["\(moment)"]], "\(date)")
        }
    }

    @Test(
        "a date may have a year of more than four digits in every place",
        arguments: [
            ("0000-01-01T00:00+14:00", "-000001-12-31T10:00Z"),
            ("9999-12-31T23:59-14:00", "+010000-01-01T13:59Z"),
            ("9999-12-31T24:00Z", "+010000-01-01Z"), ("9999-12-31Z + 1d", "+010000-01-01Z"),
            ("0000-01-01Z - 400d", "-000002-11-27Z"), ("9999-12-31Z + 200000w", "+013833-01-25Z"),
            ("9999-12-31 + 1d", "+009999-12-31T22:00Z"),
        ])
    func farDates(date: String, text: String) throws {
        let source = try ListSource(json: [#"{"t":"\#(text)"}"#])
        let zone = QueryTimeZone { _ in 7200 }
        for condition in [
            "t = \(date)", "t in [\(date)]", "t between \(date) and \(date)", "t - (\(date)) = 0",
            "not t < \(date)",
        ] {
            let pipeline = try QueryPipeline("find " + condition)
            #expect(try QueryPipeline(pipeline.description) == pipeline, "\(pipeline)")
            #expect(try source.keys("find " + condition, zone: zone) == ["0"], "\(condition)")
        }
    }

    @Test(
        "a date beyond 270,000 years is refused in every place",
        arguments: ["2026-01-31Z", "2026-01-31", "now"])
    func tooFarDates(date: String) {
        for condition in ["t < D", "t in [D]", "t between D and D", "t - (D) > 0"] {
            let text = condition.replacing("D", with: date + " + 8000000w + 8000000w")
            #expect(throws: QuerySyntaxError.self, "\(text)") { try QueryPredicate(text) }
        }
    }

    @Test("dates are allowed in comparisons, lists, ranges and calculations") func places() throws {
        let entries = [0, 30, 3600, 90_000].map { age in
            ListSource.Entry(
                key: "\(age)", value: [0xa0],
                created: Timestamp(microseconds: Self.now.microseconds - Int64(age) * 1_000_000))
        }
        let source = ListSource(entries)
        func keys(_ condition: String) throws -> [String] {
            try source.keys("find " + condition, zone: Self.zone, now: Self.now)
        }
        #expect(try keys("@created > now - 1m") == ["0", "30"])
        #expect(try keys("now - 1m < @created") == ["0", "30"])
        #expect(try keys("@created in [now, now - 30s]") == ["0", "30"])
        #expect(try keys("@created between yesterday - 1d and now - 31s") == ["3600", "90000"])
        #expect(try keys("now - @created > 1h - 1s") == ["3600", "90000"])
        #expect(try keys("@created < today") == ["3600", "90000"])
        #expect(try keys("@created - (now - 1h) >= 0s") == ["0", "30", "3600"])
    }

    @Test("stored texts without a zone are read in the query's zone, on every thread") func storedTexts()
        throws
    {
        let source = try ListSource(json: (0..<40_000).map { _ in #"{"p":"2026-02-28 12:00"}"# })
        #expect(try source.keys("find p = 2026-02-28T10:00Z", zone: Self.zone).count == 40_000)
        #expect(try source.keys("find p = 2026-02-28 12:00", zone: Self.zone).count == 40_000)
        #expect(try source.keys("find p = 2026-02-28T10:00Z").isEmpty)
        #expect(try source.columns("sum p - 1970-01-01Z", zone: Self.zone) == [["70890912000000"]])
    }

    /// The moments that a report has.
    private func dates(_ query: String) throws -> [String] {
        try ListSource([]).answer(query, zone: Self.zone, now: Self.now).report.dates
    }

    @Test("a report has each moment with its offset") func report() throws {
        let dates = try dates(
            "find @created > today - 3d and (a = 2026-03-02 or b in [now, 5]) | select today - a")
        #expect(
            Set(dates) == [
                "today - 3d is 2026-02-28T00:00:00+02:00", "2026-03-02 is 2026-03-02T00:00:00+03:00",
                "now is 2026-03-03T00:30:00.25+03:00", "today is 2026-03-03T00:00:00+03:00",
            ])
    }

    @Test("a report has the moments of quoted dates that are compared with dates") func reportOfQuoted()
        throws
    {
        let dates = try dates(
            #"find @created < "2026-01-31" and date(t) between "2026-02-01" and "2026-02-02""#
                + #" and @accessed in ["2026-02-03"] and name = "2026-02-04""#)
        #expect(
            Set(dates) == [
                "2026-01-31 is 2026-01-31T00:00:00+02:00", "2026-02-01 is 2026-02-01T00:00:00+02:00",
                "2026-02-02 is 2026-02-02T00:00:00+02:00", "2026-02-03 is 2026-02-03T00:00:00+02:00",
            ])
    }

    @Test("a report has the moments of calculated bounds") func reportOfBounds() throws {
        let dates = try dates(
            "find a > 2026-01-31 + 86400 and b < (2026-01-31Z - 60) + 1 | select a + 5")
        #expect(dates.contains("2026-01-31 + 86400 is 2026-02-01T00:00:00+02:00"), "\(dates)")
        #expect(dates.contains { $0.hasSuffix(" is 2026-01-31T01:59:01+02:00") }, "\(dates)")
        #expect(dates.count == 4, "\(dates)")
    }

    @Test("a property with the name of a date needs quotes") func properties() throws {
        let source = try ListSource(json: [#"{"today":5,"now":{"x":1},"a":5}"#])
        #expect(try source.keys(#"find "today" = 5 and now.x = 1 and a = ["today"]"#) == ["0"])
        for query in ["find today = 5", "find now is null", "sort today", "select now"] {
            #expect(throws: QuerySyntaxError.self) { try QueryPipeline(query) }
        }
    }

    @Test("a date is the same moment in Swift source") func swift() throws {
        func source(_ date: String) throws -> String {
            let text = try QueryPipeline("find d > \(date)").swiftSource()
            return text.split(separator: "\n").first { $0.contains("archive.d") }.map(String.init) ?? ""
        }
        let today = "Calendar.current.startOfDay(for: Date())"
        #expect(try source("now - 90m").hasSuffix("(.greater(than: Date().addingTimeInterval(-5400.0)))"))
        #expect(try source("today").hasSuffix("(.greater(than: \(today)))"))
        #expect(
            try source("yesterday - 2d + 1h").hasSuffix(
                "(than: Calendar.current.date(byAdding: .day, value: -3, to: \(today))!.addingTimeInterval(3600.0)))"
            ))
    }

    @Test(
        "a date prints its moment in UTC",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"), (-2_208_988_800, "1900-01-01T00:00:00Z"),
        ] as [(Int64, String)])
    func printing(seconds: Int64, text: String) {
        #expect(QueryLiteral.date(microseconds: seconds * 1_000_000).description == text)
    }

    @Test("completions offer date words where a date fits") func completions() {
        func words(_ text: String) -> [String] {
            QueryPipeline.completions(in: text, at: text.utf8.count).filter { $0.kind == .word }.map(\.text)
        }
        #expect(words("find @created > to") == ["today", "tomorrow"])
        #expect(words("find @created between y") == ["yesterday"])
        #expect(words("find @size > to") == [])
    }

    @Test("a clock in the past makes no age negative") func ages() throws {
        let future = Timestamp(microseconds: Self.now.microseconds + 3_600_000_000)
        let source = ListSource([ListSource.Entry(key: "k", value: [0xa0], created: future, accessed: future)]
        )
        #expect(try source.columns("select @age, @idle", now: Self.now) == [["0.0", "0.0"]])
        #expect(try source.keys("find @idle > 0s or @age > 0s", now: Self.now) == [])
    }
}
