import Foundation
import TestSupport
import Testing

/// The demo's load varies, so that graphs show something.
@Suite(.timeLimit(.minutes(10)))
struct DemoPhaseTests {
    /// The number of look-ups in a line of figures, and their hit ratio in percent.
    private func figures(_ lines: some Sequence<String>) -> [(count: Int, percent: Double)] {
        lines.compactMap { line in
            guard let match = line.firstMatch(of: /health +([0-9,]+) look-ups? in 5 s, ([0-9.]+) %/),
                let count = Int(match.1.replacing(",", with: "")), let percent = Double(match.2)
            else { return nil }
            return (count, percent)
        }
    }

    /// The phases take more than a minute.
    @Test(
        "has a scan, a burst, and a limit that is too small", .enabled(if: Soak.seconds > 0, "runs in a soak")
    )
    func phasesSoak() async throws {
        let folder = TemporaryFolder()
        let path = folder / "store"
        let demo = try Spawned(
            ["demo", "--no-browse", "--seconds", "600", "--rate", "600", "--store", path],
            environment: ["TMPDIR": folder.path])
        try await demo.until("its first figures") { demo.errors.contains("1 s: ") }
        let journal = try Spawned(["tail", "Journal", "--raw", "-n", "100", "--follow", "--store", path])
        func until(_ text: String) async throws {
            #expect(try await eventually(within: 180) { journal.text.contains(text) }, "\(text)")
        }
        func limit() throws -> Int {
            let list = try JSON.array(Vellum.run(["ls", "--json", "--store", path]).output)
            return try #require(list.first { $0["archive"] as? String == "City" }?["diskLimit"] as? Int)
        }
        let whole = try limit()
        try await until("the limit of the city cache drops to a third")
        #expect(try await eventually { try limit() < whole }, "the limit did not shrink")
        #expect(try limit() == whole / 3)
        let lines = journal.lines
        let beginnings = ["phase    scan: ", "phase    scan done", "phase    burst: ", "phase    burst over"]
        let places = try beginnings.map { beginning in
            try #require(lines.firstIndex { $0.hasPrefix(beginning) }, "\(beginning): \(lines)")
        }
        #expect(places == places.sorted())
        // A scan has more misses, and a burst more look-ups. A line of figures may span the beginning of a phase.
        let steady = figures(lines[..<places[0]])
        let scan = figures(lines[places[0]...].prefix { !$0.hasPrefix("phase    burst") })
        let calm = figures(lines[places[1]..<places[2]])
        let burst = figures(lines[places[2]..<places[3]])
        let worst = try #require(scan.map(\.percent).min())
        #expect(try worst < #require(steady.last).percent, "\(steady) \(scan)")
        let most = try #require(burst.map(\.count).max())
        #expect(try most > 2 * #require(calm.last).count, "\(calm) \(burst)")
        demo.signal(SIGINT)
        #expect(try await demo.finish() == 130)
        // The demo restores the limit.
        #expect(try limit() == whole)
        journal.signal(SIGINT)
        _ = try await journal.finish()
    }
}
