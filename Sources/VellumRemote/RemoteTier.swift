import StorageEngine

/// A store that several machines share, such as a server, and that keeps the objects of ``RemoteArchives``.
public protocol RemoteTier: AnyObject, Sendable {
    /// Part of the near archives' names, 1 to 40 bytes, which distinguishes tiers.
    var name: String { get }
    /// The maximum time for which a process may use an outdated copy.
    var staleness: Duration { get }
    /// Returns the objects of an archive. The listener gets reports until the space is closed.
    func space(named archive: String, _ listener: any RemoteListener) -> any RemoteSpace
    /// The state of the connection.
    var health: RemoteHealth { get }
}

/// The objects of one archive at a ``RemoteTier``. Safe from any thread.
///
/// The calls don't block. Each calls `then` once, on any thread, after it has returned. For each key, answers and the listener's
/// reports are delivered one at a time, in the tier's order: a change after an answer is reported after it. Callbacks must not block.
public protocol RemoteSpace: AnyObject, Sendable {
    /// Returns the object with this key; `nil` if absent.
    func fetch(_ key: String, _ then: @escaping @Sendable (Result<RemoteObject?, RemoteError>) -> Void)
    /// Stores or replaces an object.
    func store(
        _ object: RemoteObject, forKey key: String,
        _ then: @escaping @Sendable (Result<Void, RemoteError>) -> Void)
    /// Returns whether the object existed.
    func delete(_ key: String, _ then: @escaping @Sendable (Result<Bool, RemoteError>) -> Void)
    /// Deletes all objects, or those of an owner. Returns their number.
    func deleteAll(ofOwner owner: String?, _ then: @escaping @Sendable (Result<Int, RemoteError>) -> Void)
    /// Sets the object's TTL; `nil`: no expiry. Returns whether the object exists.
    func expire(
        _ key: String, in lifetime: Duration?, _ then: @escaping @Sendable (Result<Bool, RemoteError>) -> Void
    )
    func close()
}

/// Gets reports on the objects of a ``RemoteSpace``.
public protocol RemoteListener: AnyObject, Sendable {
    /// Every later change by others is reported.
    func isTracked()
    /// Changes are no longer reported; those within the latest ``RemoteTier/staleness`` may have been missed.
    func isUntracked()
    /// An object was changed, deleted or evicted by others, or has expired.
    func changed(_ key: String)
    /// All objects may have changed.
    func changedAll()
}

/// An object at a tier.
public struct RemoteObject: Sendable, Hashable {
    /// The encoded object.
    public var bytes: [UInt8]
    /// The encoding of ``bytes``.
    public var encoding: ValueEncoding
    /// TTL; `nil`: no expiry.
    public var lifetime: Duration?
    /// Maximum time in a process's memory; `nil`: no limit.
    public var memoryLifetime: Duration?
    /// The owner; `nil`: none.
    public var owner: String?

    /// Creates an object, by default without lifetimes and owner.
    public init(
        bytes: [UInt8], encoding: ValueEncoding = .unknown, lifetime: Duration? = nil,
        memoryLifetime: Duration? = nil, owner: String? = nil
    ) {
        self.bytes = bytes
        self.encoding = encoding
        self.lifetime = lifetime
        self.memoryLifetime = memoryLifetime
        self.owner = owner
    }
}

/// Why a request to a remote tier failed.
public enum RemoteError: Error, Hashable {
    /// There is no connection, and the request was not sent.
    case unreachable(tier: String, reason: String)
    /// The connection was lost, or the request timed out. The server may have executed it.
    case unanswered(tier: String, reason: String)
    /// The server refused the request; nothing was changed.
    case refused(tier: String, message: String)
    /// Too many requests or changes are queued; this one was not sent.
    case overloaded(tier: String, waiting: Int)
    /// The value of this key is damaged or was not written by this library.
    case unreadable(tier: String, key: String, reason: String)
    /// The near archive is in use in this process with another tier of that name.
    case otherTier(name: String)

    /// Whether the server may have executed the request.
    package var isUncertain: Bool { if case .unanswered = self { true } else { false } }
}

extension RemoteError: CustomStringConvertible {
    /// The error in one line.
    public var description: String {
        switch self {
        case .unreachable(let tier, let reason): "\(tier) can't be reached: \(reason) (nothing was sent)"
        case .unanswered(let tier, let reason):
            "\(tier) didn't answer: \(reason); a change may have been executed"
        case .refused(let tier, let message): "\(tier) refuses: \(message)"
        case .overloaded(let tier, let waiting):
            "\(tier) is too slow: \(waiting) requests are queued; this one was not sent"
        case .unreadable(let tier, let key, let reason):
            "the value of \"\(key)\" at \(tier) can't be read: \(reason); record or delete the key"
        case .otherTier(let name):
            "the archive is in use with another tier named \"\(name)\"; keep one tier for each server, or give this one another name"
        }
    }
}

/// The state of a tier's connection in this process.
public struct RemoteHealth: Sendable, Hashable, Codable {
    /// The problem; `nil` while it is connected and changes are reported.
    public var trouble: String?
    /// Connections opened.
    public var connections = 0
    /// Connections lost or failed.
    public var failures = 0
    /// Requests sent.
    public var requests = 0
    /// Requests that timed out.
    public var timeouts = 0
    /// Requests that the server refused.
    public var refusals = 0
    /// Requests that a cluster's node redirected to another one.
    public var redirections = 0
    /// Requests sent again because a cluster was being reconfigured.
    public var retries = 0
    /// Requests not sent, because there was no connection or too many were pending.
    public var unsent = 0
    /// Requests without an answer yet.
    public var waiting = 0
    /// Keys that the server reported as changed by others.
    public var invalidations = 0

    /// Creates a state with all counts 0.
    public init() {}
}
