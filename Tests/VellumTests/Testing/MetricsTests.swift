import MetricsTestKit
import Testing
import Vellum
import VellumMetrics
import VellumTesting

@Suite struct MetricsTests {
    private let store = TestStore()
    private let kit = TestMetrics()

    /// An archive that contains a note before it is reported.
    private func reportedNotes() throws -> (ArchiveManager<Note>, ArchiveMetrics) {
        let notes = try store.factory.archives(for: Note.self)
        notes.record(Note("before"))
        let metrics = ArchiveMetrics(factory: kit)
        metrics.add(notes)
        return (notes, metrics)
    }

    @Test("counters and gauges are reported") func counters() async throws {
        let (notes, metrics) = try reportedNotes()
        func counted(_ name: String) throws -> Int64 {
            try kit.expectCounter("vellum.\(name)", [("archive", "Note")]).totalValue
        }
        for key in ["a", "b"] { notes.record(Note(key)) }
        for key in ["a", "a", "never"] { _ = notes.access(archiveWithKey: key) }
        metrics.report()
        metrics.report()
        #expect(try counted("records") == 2 && counted("hits") == 2 && counted("misses") == 1)
        #expect(try counted("memory.hits") == 2 && counted("evictions") == 0)
        #expect(try kit.expectMeter("vellum.objects", [("archive", "Note")]).lastValue == 3)
        let bytes = try kit.expectMeter("vellum.disk.bytes", [("archive", "Note")]).lastValue
        #expect(bytes == Double(notes.statistics?.diskBytes ?? 0))
        // The counters of the archive that replaces a removed one start at 0.
        try store.reset()
        notes.record(Note("c"))
        metrics.report()
        #expect(try counted("records") == 3)
        notes.delete(archiveWithKey: "c")
        let task = Task { try await metrics.run(every: .seconds(3_600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try counted("deletes") == 1)
    }

    @Test("calls that reach the store are timed") func timers() async throws {
        let (notes, _) = try reportedNotes()
        func durations(_ call: String) throws -> [Int64] {
            try kit.expectTimer("vellum.duration", [("archive", "Note"), ("call", call)]).values
        }
        notes.record(Note("a"))
        // The first one is a hit in memory.
        for key in ["a", "never", "none"] { _ = notes.access(archiveWithKey: key) }
        notes.record(all: [Note("b"), Note("c")])
        _ = notes.where(\.text == "").getResults()
        let pause = Duration.milliseconds(20)
        _ = try await notes.asynchronous.value(forKey: "d") {
            try await Task.sleep(for: pause)
            return Note("d")
        }
        notes.delete(archiveWithKey: "a")
        #expect(try durations("record").count == 2 && durations("change").count == 1)
        // "d" was looked up before it was computed.
        #expect(try durations("access").count == 3 && durations("delete").count == 1)
        #expect(try durations("query").count == 1)
        #expect(try durations("compute").count == 1 && durations("compute")[0] >= 20_000_000)
    }
}
