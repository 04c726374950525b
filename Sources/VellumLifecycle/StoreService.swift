import Vellum

#if ServiceLifecycle
import ServiceLifecycle
import VellumMetrics

/// Runs a factory's store as a service of swift-service-lifecycle: on a graceful shutdown it closes the store after the
/// services that use it have ended.
///
/// ```swift
/// let group = ServiceGroup(
///     services: [StoreService(factory), server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// List it first, because services end in reverse order.
public struct StoreService: Service {
    private let factory: ArchivesFactory
    private let metrics: ArchiveMetrics?
    private let interval: Duration

    /// The service of a factory's store.
    /// - Parameters:
    ///   - factory: closed at the end (``Vellum/ArchivesFactory/close()``).
    ///   - metrics: reported while the program runs, and once more before the store is closed.
    ///   - interval: between two reports; at least a millisecond.
    public init(
        _ factory: ArchivesFactory, reporting metrics: ArchiveMetrics? = nil,
        every interval: Duration = .seconds(10)
    ) {
        self.factory = factory
        self.metrics = metrics
        self.interval = max(interval, .milliseconds(1))
    }

    /// Runs until a graceful shutdown, or until its task is cancelled.
    public func run() async throws {
        defer { factory.close() }
        guard let metrics else { return try await gracefulShutdown() }
        do {
            try await cancelWhenGracefulShutdown { try await metrics.run(every: interval) }
        } catch is CancellationError where !Task.isCancelled {
            // This is the graceful shutdown.
        }
    }
}
#else
/// A service of swift-service-lifecycle. Available only with the package's trait `ServiceLifecycle`; without it
/// that package is neither fetched nor built.
@available(
    *, unavailable,
    message: "add traits: [\"ServiceLifecycle\"] to the package Vellum in Package.swift"
)
public struct StoreService {
    /// Needs the package's trait `ServiceLifecycle`.
    public init(_ factory: ArchivesFactory) {}
}
#endif
