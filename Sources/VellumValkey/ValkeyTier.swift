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
/// If the server belongs to a cluster, its others are found, and each key is asked for where it is. One connection to each serves all archives of the tier in this process: requests are sent without waiting for the answers to former
/// ones, and the server's notes of changes come among the answers (`CLIENT TRACKING … BCAST`, protocol 3), so their order is the
/// server's. It is connected at once, and again when it is lost, after a random time of up to ``Options/longestPause``. Once two
/// attempts have failed, requests are refused at once until one succeeds. Safe from any thread.
///
/// The server tells of all changes but `SWAPDB`: don't swap a database whose objects have near copies. It must keep the
/// owners' sets, so let it evict only what has a lifetime (`volatile-…`), or nothing, if objects have owners. A user of its
/// own needs `HELLO`, `SELECT`, `CLIENT`, `MULTI`, `EXEC`, `CLUSTER`, `SCAN`, and those for strings; with owners `EVAL` and
/// those for sorted sets.
public final class ValkeyTier: RemoteTier {
    /// Times and limits.
    public struct Options: Sendable, Hashable {
        /// What keys begin with, before the archive's name.
        public var prefix = "vellum"
        /// Longest wait for an answer, with all retries in a cluster, and for a connection. To store an object with an owner takes
        /// three answers.
        public var timeout: Duration = .seconds(2)
        /// How often each server is asked what it is: whether it answers, is no replica, and what it knows of its cluster.
        public var heartbeat: Duration = .seconds(1)
        /// Longest pause between two attempts to connect. The first are shorter.
        public var longestPause: Duration = .seconds(5)
        /// Most requests that may wait for an answer; further ones are refused.
        public var mostWaiting = 10_000
        /// Most bytes that may wait to be sent.
        public var mostUnsentBytes = 64 << 20
        /// For addresses that begin with `valkeys://`.
        public var tls = TLS()

        /// The usual times and limits.
        public init() {}

        /// Times that timers can take.
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
    /// As they were given, times between a millisecond and a day.
    public let options: Options
    private let router: ValkeyRouter

    /// - Parameters:
    ///   - url: `valkey://[user:password@]host[:6379][/database]`, with `valkeys://` for TLS (``Options/tls``); `redis` means
    ///     the same.
    ///   - name: distinguishes the near copies of this server from those of others; `nil`: the host, and the port
    ///     and the database where they aren't the usual ones.
    ///   - options: times, limits, and what TLS needs.
    /// - Throws: ``ValkeyAddressError``, and ``ValkeyTLSError`` if a file of certificates can't be used, or the package's trait
    ///   `ValkeyTLS` is off.
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

    /// Not shared: a thread that waits must not be the one that brings the answer, and others' work must delay no notes.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private static func name(of address: ValkeyAddress) -> String {
        address.host + (address.port == 6379 ? "" : ":\(address.port)")
            + (address.database == 0 ? "" : "/\(address.database)")
    }

    /// At most 40 bytes; a longer name's end, which may be all that two differ in, is a checksum.
    private static func bounded(_ name: String) -> String {
        guard name.utf8.count > 40 else { return name }
        var start = name.prefix(31)
        while start.utf8.count > 31 { start.removeLast() }
        return "\(start)-" + String(Checksum.crc32c(Array(name.utf8)), radix: 16)
    }

    /// A heartbeat and 1.1 time-outs: so long the latest answer may be under way before the connection counts as lost.
    ///
    /// In a cluster it counts from when one of the servers to which this process is connected knows of a failover. They tell each
    /// other at once. If all that this process reaches are cut off from those that made it, they stop after their
    /// `cluster-node-timeout`, and it counts from then.
    public var staleness: Duration { options.heartbeat + options.timeout + options.timeout / 10 }

    /// Of its connections: one, or one to each server of a cluster.
    public var health: RemoteHealth { router.health }

    /// The keys that begin with the prefix and the archive's name.
    public func space(named archive: String, _ listener: any RemoteListener) -> any RemoteSpace {
        ValkeySpace(router, archive: archive, in: options.prefix, listener)
    }
}
#else
/// A Valkey or Redis server as the tier that several machines share. Available only with the package's trait `Valkey`; without it
/// what it needs is neither fetched nor built.
@available(*, unavailable, message: "add traits: [\"Valkey\"] to the package Vellum in Package.swift")
public final class ValkeyTier {
    /// Needs the package's trait `Valkey`.
    public init(_ url: String) {}
}
#endif
