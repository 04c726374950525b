import ArchiveQuery
import CBOR
import Foundation
import StorageEngine
import TestSupport
import Testing

/// R6: for any bytes of a value, a query takes at most 1 µs for each and 100 ms, and at most 64 MiB.
@Suite(.serialized) struct HostileValueTests {
    private static let queries = [
        "find a > 1", "find a = 1.5 or a between 1 and 2", "sort a", "sum a", "count group by a",
        "distinct a", "select a", "find a contains \"9\"", "find a = \"é\" or a < \"b\"",
        "find a contains \"é\" or a icontains \"É\"", "find a in [\"é\", \"b\"]",
        "find count(a) = 3 or a has 1",
    ]
    /// Time for regular expressions in addition to the time in proportion to their texts.
    private static let timeLimit = 2 * (SearchTimeLimit.whole / .seconds(1))

    private func ask(_ value: HostileValue, _ costs: Costs) {
        let encoding = ValueEncoding(rawValue: value.encoding) ?? .unknown
        let source = ListSource([ListSource.Entry(key: "k", value: value.bytes, encoding: encoding)])
        func ask(_ text: String, more: Double = 0) {
            costs.measure(text, bytes: value.bytes.count, more: more, value.name) {
                for row in try source.answer(text).rows {
                    costs.entries += 1
                    for item in row.columns + [row.value] {
                        if let item { _ = try? JSONPrinter.text(of: item) }
                    }
                }
            }
        }
        for text in Self.queries { ask(text) }
        ask("find a matches \"9$\"", more: Self.timeLimit)
    }

    /// Accepts five times the promised time, for busy machines.
    @Test("queries of hostile values end in bounded time") func hostileValues() throws {
        let costs = Costs(clock: CLOCK_THREAD_CPUTIME_ID, measuresMemory: false)
        for value in HostileValue.all(size: 50_000) { ask(value, costs) }
        #expect(costs.worst.count == Self.queries.count + 1 && costs.entries > 100)
        for (name, worst) in costs.worst { #expect(worst.time < 5, "\(name): \(worst.what)") }
    }

    /// For an idle machine. `VELLUM_SOAK_BYTES`: the largest size.
    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak")) func hostileValuesSoak() throws {
        let largest = ProcessInfo.processInfo.environment["VELLUM_SOAK_BYTES"].flatMap(Int.init) ?? 4 << 20
        let end = Soak.end(share: 0.05)
        let costs = Costs(clock: CLOCK_PROCESS_CPUTIME_ID, measuresMemory: true)
        var random = SeededGenerator(seed: Soak.seed)
        var count = 0
        repeat {
            for value in HostileValue.all(size: largest >> (count % 8)) {
                ask(count == 0 ? value : value.mutated(&random), costs)
                if count > 0, Date() >= end { break }
            }
            count += 1
        } while Date() < end
        var figures = Figures("R6 queries of hostile values")
        figures.add("seed", text: "\(Soak.seed)")
        figures.add("rounds", count)
        figures.add("most time", ratio: costs.worst.values.map(\.time).max() ?? 0)
        figures.add("most memory", ratio: costs.worst.values.map(\.memory).max() ?? 0)
        figures.report()
        for (name, worst) in costs.worst {
            #expect(worst.time <= 1, "\(name): \(worst.what)")
            #expect(worst.memory <= 1, "\(name)")
        }
    }

    @Test("all regular expressions of a query share one time limit") func sharedPatternTime() throws {
        let bad = String(repeating: "a", count: 60) + "b"
        let values = (0..<2_000).map { $0 % 2 == 0 ? bad : "aa \($0)" }
        let source = try ListSource(json: values.map { "{\"p\":\"\($0)\"}" })
        let start = ContinuousClock.now
        let query = #"find p matches "^(a+)+( [0-9]+)?$""#
        let (rows, report) = try source.answer(query)
        // 1,000 texts at 100 ms each would take 100 s.
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(report.givenUp >= 1_000 && report.givenUp + rows.count == 2_000)
        #expect(report.warnings.count == 2)
        #expect(
            report.warnings.first?.contains("time limit on \(report.givenUp) texts") == true)
        let harmless = try ListSource(json: (0..<5_000).map { "{\"p\":\"aa \($0)\"}" })
        let (all, quick) = try harmless.answer(query)
        #expect(all.count == 5_000 && quick.givenUp == 0 && quick.warnings == [])
    }
}
