import ArchiveQuery
import CBOR
import Foundation
import StorageEngine
import StoreInspection
import TestSupport
import Testing

/// R6: showing a value by `get`, `export` and the browser costs at most 1 µs for each byte plus 100 ms, and 64 MiB. (Queries:
/// `HostileValueTests`.)
@Suite(.serialized) struct HostileCostTests {
    private func show(_ value: HostileValue, _ costs: Costs, to output: OutputWriter) {
        let encoding = ValueEncoding(rawValue: value.encoding) ?? .unknown
        let bytes = value.bytes
        func measure(_ name: String, _ body: () throws -> Void) {
            costs.measure(name, bytes: bytes.count, value.name, body)
        }
        measure("get") {
            try bytes.withUnsafeBytes { bytes in
                try RecognizedBytes(bytes, encoding: encoding).withSource { try output.write($0, .pretty) }
            }
        }
        measure("export") {
            try bytes.withUnsafeBytes { bytes in
                try RecognizedBytes(bytes, encoding: encoding).withSource {
                    try JSONTree.source($0).writeLine(to: output)
                }
            }
            costs.entries += 1
        }
        measure("export as CSV") {
            let item = RecognizedValue(bytes, encoding: encoding).item
            try item.withUnsafeBytes { item in
                guard let object = ObjectFields(item) else { return }
                try DelimitedText.commas.write(object.fields.map(\.item), to: output)
            }
        }
        measure("browse") {
            let content = ValueContent(bytes, total: bytes.count, encoding: encoding)
            #expect(!content.name.isEmpty)
        }
    }

    private func output() -> OutputWriter { OutputWriter(descriptor: open("/dev/null", O_WRONLY)) }

    /// Five times the promised bound, for busy machines.
    @Test func showsHostileValuesInTime() {
        let costs = Costs(clock: CLOCK_THREAD_CPUTIME_ID, measuresMemory: false)
        let output = output()
        for value in HostileValue.all(size: 50_000) { show(value, costs, to: output) }
        #expect(costs.worst.count == 4 && costs.entries > 20)
        for (name, worst) in costs.worst { #expect(worst.time < 5, "\(name): \(worst.what)") }
    }

    /// For an idle machine. `VELLUM_SOAK_BYTES`: the size of the largest.
    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak")) func hostileValuesAreShownSoak() {
        let largest = ProcessInfo.processInfo.environment["VELLUM_SOAK_BYTES"].flatMap(Int.init) ?? 4 << 20
        let end = Soak.end(share: 0.03)
        let costs = Costs(clock: CLOCK_PROCESS_CPUTIME_ID, measuresMemory: true)
        let output = output()
        var random = SeededGenerator(seed: Soak.seed)
        var count = 0
        repeat {
            for value in HostileValue.all(size: largest >> (count % 8)) {
                show(count == 0 ? value : value.mutated(&random), costs, to: output)
                if count > 0, Date() >= end { break }
            }
            count += 1
        } while Date() < end
        var figures = Figures("R6 hostile values shown")
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
}
