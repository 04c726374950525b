import ArchiveQuery
import Testing

/// Searching names one by one would take quadratic time.
struct ManyNamesTests {
    private final class Counter {
        var count = 0
    }

    @Test("equal names get numbers in a linear number of comparisons") func equalNames() {
        let counter = Counter()
        let names = Array(repeating: "a", count: 10_000).distinct { name in
            counter.count += 1
            return name
        }
        #expect(names.first == "a" && names[1] == "a 2" && names.last == "a 10000")
        #expect(Set(names).count == 10_000)
        #expect(counter.count <= 50_000)
    }

    @Test("a name that has a number already keeps names different") func numberedNames() {
        #expect(["a", "a 2", "a", "a", "a 2"].distinct == ["a", "a 2", "a 3", "a 4", "a 2 2"])
    }

    @Test("only the first unknown properties get a line each") func unknownProperties() throws {
        let names = (0..<1_000).map { "unknown\($0)" }
        let source = try ListSource(json: [#"{"a":1}"#])
        var options = QueryOptions()
        options.looksForMistakes = true
        let plan = QueryPlan(try QueryPipeline("select " + names.joined(separator: ", ")))
        let report = try plan.run(over: source, options: options) { _ in true }
        #expect(report.warnings.count == 21)
        #expect(report.warnings.last?.contains("980") == true)
    }
}
