import Vellum

#if ServiceLifecycle
import ServiceLifecycle
import VellumMetrics

/// The archives of a factory as a service of swift-service-lifecycle: when the program ends gracefully, its store is closed after the
/// services that use it have ended. Safe from any thread.
///
/// ```swift
/// let group = ServiceGroup(
///     services: [StoreService(factory), server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// List it first: services end in the reverse of their order.
public struct StoreService: Service {
    private let factory: ArchivesFactory
    private let metrics: ArchiveMetrics?
    private let interval: Duration

    /// The service of a factory's store.
    /// - Parameters:
    ///   - factory: what is closed at the end (``Vellum/ArchivesFactory/close()``).
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

    /// Lasts until the program ends gracefully, or its task is cancelled.
    public func run() async throws {
        defer { factory.close() }
        guard let metrics else { return try await gracefulShutdown() }
        do {
            try await cancelWhenGracefulShutdown { try await metrics.run(every: interval) }
        } catch is CancellationError where !Task.isCancelled {
            // The end that was asked for.
        }
    }
}
#else
/// A service of swift-service-lifecycle, of which only those build and fetch anything who ask for it by the package's trait
/// `ServiceLifecycle`.
@available(
    *, unavailable,
    message: "add traits: [\"ServiceLifecycle\"] to the package Vellum in Package.swift"
)
public struct StoreService {
    /// Needs the package's trait `ServiceLifecycle`.
    public init(_ factory: ArchivesFactory) {}
}
#endif
