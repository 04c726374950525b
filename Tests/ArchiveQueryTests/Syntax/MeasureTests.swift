import ArchiveQuery
import Testing

/// Durations and sizes in the forms that users type.
@Suite struct MeasureTests {
    @Test(
        arguments: [
            ("90s", 90, "90s"), ("5m", 300, "5m"), ("2h", 7200, "2h"), ("3d", 259_200, "3d"),
            ("1w", 604_800, "7d"), ("1h30m", 5400, "1h30m"), ("1H 30M", 5400, "1h30m"),
            ("1.5h", 5400, "1h30m"), ("2.5s", 2.5, "2.5s"), ("500ms", 0.5, "500ms"), ("0.0004ms", 0, nil),
            ("0.0006ms", 1e-6, "0.001ms"), ("61s", 61, "61s"), ("101s", 101, "1m41s"),
            ("36500d", 3_153_600_000, "36500d"),
        ] as [(String, Double, String?)])
    func intervals(text: String, seconds: Double, shown: String?) throws {
        guard let shown else {
            #expect(throws: DurationFault.self) { try DurationText.interval(text) }
            return
        }
        let interval = try DurationText.interval(text)
        #expect(interval == .microseconds((seconds * 1e6).rounded()))
        #expect(DurationText.text(interval) == shown)
        #expect(try DurationText.interval(shown) == interval)
    }

    @Test(arguments: [
        ("5", "has no unit"), ("", "is not a duration"), ("m", "is not a duration"),
        ("5x", "is not a duration"),
        ("-5m", "is not a duration"), ("1h30", "is not a duration"), ("5.m", "is not a duration"),
        (".5m", "is not a duration"), ("1e3s", "is not a duration"), ("0s", "longer than 0"),
        ("36501d", "longer than 36500d"), (String(repeating: "9", count: 24) + "w", "longer than 36500d"),
        (String(repeating: "999999999999w", count: 100), "longer than 36500d"),
        (String(repeating: "1", count: 25) + "s", "is not a duration"),
    ])
    func noIntervals(text: String, problem: String) {
        let fault = #expect(throws: DurationFault.self) { try DurationText.interval(text) }
        #expect(fault?.description.contains(problem) == true, "\(fault?.description ?? "")")
    }

    @Test(
        arguments: [
            ("0", 0), ("4096", 4096), ("20MB", 20_000_000), ("20 mb", 20_000_000), ("64KiB", 65_536),
            ("1.5GB", 1_500_000_000), ("0.0009765625MiB", 1024), ("18446744073709551615B", .max),
            ("1.5B", nil), ("18446744073709551616", nil), ("16777216TiB", nil), ("MB", nil), ("-1", nil),
            ("1e3", nil), ("5m", nil), ("1.", nil), ("20  MB", nil), ("", nil),
        ] as [(String, UInt64?)])
    func sizes(text: String, bytes: UInt64?) {
        #expect(SizeText.bytes(text) == bytes)
    }

    @Test(arguments: [
        0, 1, 999, 1500, 1_000_001, 59_999_999, 90_000_000, 3_600_500_000, 86_399_999_999, .max,
    ])
    func durationRoundTrip(microseconds: Int64) {
        let text = "find @ttl < \(QueryLiteral.duration(microseconds: microseconds))"
        guard case .pipeline(let pipeline) = QueryPipeline.parse(text),
            case .find(.compare(_, _, let literal))? = pipeline.stages.first
        else {
            Issue.record("\(text)")
            return
        }
        #expect(literal == .duration(microseconds: microseconds))
    }
}
