#if Valkey
import MetricsTestKit
import ServerSupport
import TestSupport
import Testing
import Vellum
import VellumMetrics
import VellumRemote
import VellumValkey

@Suite(.enabled(if: ValkeyServer.program != nil, "there is neither valkey-server nor redis-server"))
struct RemoteMetricsTests {
    @Test("archives and their tier are reported") func metrics() async throws {
        let server = try await ValkeyServer()
        defer { withExtendedLifetime(server) {} }
        let (machine, other) = (try await Machine.covered(server.url), try Machine(server.url))
        let kit = TestMetrics()
        let metrics = ArchiveMetrics(factory: kit)
        try machine.parcels.record(Parcel(number: "before"))
        metrics.add(machine.parcels)
        metrics.add(machine.tier)
        func counted(_ name: String, _ dimension: (String, String)) throws -> Int64 {
            try kit.expectCounter("vellum.\(name)", [dimension]).totalValue
        }
        let (archive, tier) = (("archive", "Parcel"), ("tier", machine.tier.name))
        for key in ["a", "b"] { try other.parcels.record(Parcel(number: key)) }
        for key in ["a", "a", "never"] { _ = try machine.parcels.access(key) }
        try machine.parcels.record(Parcel(number: "c"))
        metrics.report()
        #expect(try counted("remote.fetches", archive) == 2 && counted("remote.missing", archive) == 1)
        #expect(try counted("remote.records", archive) == 1 && counted("remote.failures", archive) == 0)
        #expect(try counted("memory.hits", archive) == 1)
        #expect(try kit.expectMeter("vellum.remote.covered", [archive]).lastValue == 1)
        #expect(try kit.expectMeter("vellum.tier.connected", [tier]).lastValue == 1)
        // The tier had connected before it was reported.
        #expect(try counted("tier.connections", tier) == 0 && counted("tier.requests", tier) >= 3)
        server.stop()
        #expect(try await eventually { machine.tier.health.trouble != nil })
        #expect(throws: RemoteError.self) { try machine.parcels.access("d") }
        metrics.report()
        #expect(try counted("remote.failures", archive) == 1 && counted("tier.failures", tier) >= 1)
        #expect(try kit.expectMeter("vellum.remote.covered", [archive]).lastValue == 0)
        #expect(try kit.expectMeter("vellum.tier.connected", [tier]).lastValue == 0)
    }
}
#endif
