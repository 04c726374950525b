@testable import ArchiveQuery
import CBOR
import StorageEngine
import Testing

/// What broke: stages, columns and names were searched one by one for each other, which took quadratic time.
struct ManyNamesTests {
    private final class Counter {
        var count = 0
    }

    @Test("equal names get numbers in a linear number of comparisons")
    func equalNames() {
        let counter = Counter()
        let names = Array(repeating: "a", count: 10_000).distinct { name in
            counter.count += 1
            return name
        }
        #expect(names.first == "a" && names[1] == "a 2" && names.last == "a 10000")
        #expect(Set(names).count == 10_000)
        #expect(counter.count <= 50_000)
    }

    @Test("a name that has a number already keeps names different")
    func numberedNames() {
        #expect(["a", "a 2", "a", "a", "a 2"].distinct == ["a", "a 2", "a 3", "a 4", "a 2 2"])
    }

    @Test("stages that use nothing else share what they keep")
    func sharedForms() throws {
        let text = Array(repeating: "sort a", count: 2_000).joined(separator: " | ") + " | select b"
        let plan = QueryPlan(try QueryPipeline(text))
        guard case .properties(let first) = QueryChain.form(of: plan, at: 0),
            case .properties(let last) = QueryChain.form(of: plan, at: 1_999)
        else {
            Issue.record("the stages keep whole values")
            return
        }
        #expect(first.count == 2 && last.count == 2)
        let isShared = first.withUnsafeBytes { one in
            last.withUnsafeBytes { $0.baseAddress == one.baseAddress }
        }
        #expect(isShared)
    }

    @Test("finds the first column that a path begins with")
    func columnsOfPaths() {
        let columns: [QueryProperty] = [
            .named("b"), .path([.name("a"), .name("b")]), .named("a"), .named("b"),
        ]
        let shape = RowShape(names: PropertyNames()).with(
            columns: columns, from: columns.map { _ in nil }, hasEntry: true)
        func column(_ property: QueryProperty) -> Int? {
            if case .column(let index, _) = shape.access(to: property) { index } else { nil }
        }
        #expect(column(.named("b")) == 0)
        #expect(column(.path([.name("a"), .name("b"), .name("c")])) == 1)
        #expect(column(.path([.name("a"), .name("c")])) == 2)
        #expect(column(.named("c")) == nil)
    }

    @Test("of many unknown properties the first ones get a line each")
    func unknownProperties() throws {
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
