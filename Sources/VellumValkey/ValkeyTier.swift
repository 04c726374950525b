#if Valkey
import NIOCore
import NIOPosix
import StorageEngine
import VellumRemote

/// A Valkey or Redis server (6 or later) as the tier that several machines share.
///
/// ```swift
/// let tier = try ValkeyTier("valkey://cache.example:6379/0")
/// let users = try ArchivesFactory.shared.archives(for: User.self, remote: tier)
/// ```
///
/// The other servers of a cluster are found automatically. All archives of the tier in this process share one pipelined connection to
/// each server, which also delivers the reports of changes in the server's order (`CLIENT TRACKING … BCAST`, protocol 3). A lost
/// connection is reopened after a random time of up to ``Options/longestPause``. After two failed attempts, requests fail at once until
/// one succeeds. Safe from any thread.
///
/// The server reports all changes but `SWAPDB`: don't swap a database whose objects have near copies. The owners' sets must not be
/// evicted: if objects have owners, set a policy `volatile-…` or `noeviction`. A restricted user needs `HELLO`, `SELECT`, `CLIENT`,
/// `MULTI`, `EXEC`, `CLUSTER`, `SCAN` and the commands of strings; with owners also `EVAL` and those of sorted sets.
public final class ValkeyTier: RemoteTier {
    /// Timeouts and limits.
    public struct Options: Sendable, Hashable {
        /// The beginning of keys, before the archive's name.
        public var prefix = "vellum"
        /// Timeout of an answer, with all retries in a cluster, and of a connection attempt. Storing an object with an owner takes three
        /// answers.
        public var timeout: Duration = .seconds(2)
        /// Interval at which each server's role and cluster state are checked.
        public var heartbeat: Duration = .seconds(1)
        /// Maximum pause between two connection attempts.
        public var longestPause: Duration = .seconds(5)
        /// Maximum pending requests; further ones are refused.
        public var mostWaiting = 10_000
        /// Maximum bytes of pending requests.
        public var mostUnsentBytes = 64 << 20
        /// For addresses that begin with `valkeys://`.
        public var tls = TLS()

        /// The default timeouts and limits.
        public init() {}

        fileprivate var bounded: Options {
            func within(_ time: Duration) -> Duration { min(max(time, .milliseconds(1)), .seconds(86_400)) }
            var options = self
            options.timeout = within(timeout)
            options.heartbeat = within(heartbeat)
            options.longestPause = within(longestPause)
            return options
        }
    }

    /// The server's address, without a password.
    public let address: ValkeyAddress
    /// The first 40 characters of the given name, or of the address.
    public let name: String
    /// The given options, with times between a millisecond and a day.
    public let options: Options
    private let router: ValkeyRouter

    /// - Parameters:
    ///   - url: `valkey://[user:password@]host[:6379][/database]`, with `valkeys://` for TLS (``Options/tls``); `redis` means
    ///     the same.
    ///   - name: part of the near copies' archive names; `nil`: the host, with port and database if they aren't the defaults.
    ///   - options: timeouts, limits and TLS settings.
    /// - Throws: ``ValkeyAddressError``, and ``ValkeyTLSError`` if a certificate file is invalid, or the package's trait `ValkeyTLS` is
    ///   off.
    public init(_ url: String, named name: String? = nil, options: Options = Options()) throws {
        address = try ValkeyAddress(url)
        if address.usesTLS { try options.tls.validate() }
        self.options = options.bounded
        self.name = ValkeyTier.bounded(name ?? ValkeyTier.name(of: address))
        router = ValkeyRouter(
            address, self.name, self.options, on: ValkeyTier.loops.next())
        router.start()
    }

    deinit { router.stop() }

    /// A separate loop: blocking callers wait for its answers, and other work must not delay reports.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private static func name(of address: ValkeyAddress) -> String {
        address.host + (address.port == 6379 ? "" : ":\(address.port)")
            + (address.database == 0 ? "" : "/\(address.database)")
    }

    /// At most 40 bytes; a checksum replaces the end of a longer name.
    private static func bounded(_ name: String) -> String {
        guard name.utf8.count > 40 else { return name }
        var start = name.prefix(31)
        while start.utf8.count > 31 { start.removeLast() }
        return "\(start)-" + String(Checksum.crc32c(Array(name.utf8)), radix: 16)
    }

    /// A heartbeat and 1.1 timeouts, the maximum time without an answer before the connection counts as lost.
    ///
    /// After a failover in a cluster, it starts when one of the connected servers detects it, usually at once. If all connected servers
    /// are cut off from the majority, it starts when they stop, after their `cluster-node-timeout`.
    public var staleness: Duration { options.heartbeat + options.timeout + options.timeout / 10 }

    /// The state of its connections: one, or one to each server of a cluster.
    public var health: RemoteHealth { router.health }

    /// Returns the keys that begin with the prefix and the archive's name.
    public func space(named archive: String, _ listener: any RemoteListener) -> any RemoteSpace {
        ValkeySpace(router, archive: archive, in: options.prefix, listener)
    }
}
#else
/// A Valkey or Redis server as the tier that several machines share. Available only with the package's trait `Valkey`; without it, its
/// dependencies are neither fetched nor built.
@available(*, unavailable, message: "add traits: [\"Valkey\"] to the package Vellum in Package.swift")
public final class ValkeyTier {
    /// Requires the package's trait `Valkey`.
    public init(_ url: String) {}
}
#endif
