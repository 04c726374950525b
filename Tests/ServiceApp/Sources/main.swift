import CoreMetrics
import Foundation
import Logging
import ServiceLifecycle
import Vellum
import VellumLifecycle
import VellumMetrics

struct Visit: ArchiveCodable {
    var primaryKey: String { path }
    var path: String
    var count: Int
}

/// A server without a network, which counts visits until the shutdown.
struct Server: Service {
    let visits: ArchiveManager<Visit>

    func run() async throws {
        visits.record(Visit(path: "/", count: 1))
        print("serving")
        fflush(nil)
        try await gracefulShutdown()
        visits.record(Visit(path: "/last", count: 2))
        print("server ended")
    }
}

let factory = ArchivesFactory(storePath: CommandLine.arguments[1])
let visits = try factory.archives(for: Visit.self)
let metrics = ArchiveMetrics()
metrics.add(visits, named: "visits")
let group = ServiceGroup(
    services: [StoreService(factory, reporting: metrics), Server(visits: visits)],
    gracefulShutdownSignals: [.sigterm], logger: Logger(label: "app"))
// Ends after the store was closed, which is last.
let loop = Task { for await _ in visits.changes {} }
try await group.run()
await loop.value
print("ended, \(visits.access(archiveWithKey: "/last")?.count ?? 0) kept")
