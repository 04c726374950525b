import StorageEngine

/// A place that several machines share, such as a server, which keeps the objects of archives whose copies this machine has in
/// memory and on disk. ``RemoteArchives`` is what a program uses; this is what a place has to do for it.
public protocol RemoteTier: AnyObject, Sendable {
    /// Distinguishes the near copies of this place from those of others: 1 to 40 bytes, part of the near archive's name.
    var name: String { get }
    /// The longest time for which a copy here may be outdated without this process knowing, while the process runs.
    var staleness: Duration { get }
    /// The objects of one archive there. The listener is told from now on, until the space is closed.
    func space(named archive: String, _ listener: any RemoteListener) -> any RemoteSpace
    /// What the connection does.
    var health: RemoteHealth { get }
}

/// What one archive has at a ``RemoteTier``. Safe from any thread.
///
/// None of these calls blocks. Each calls `then` once, on any thread, never before it returns. Answers and what the listener is
/// told come one at a time, in the order in which the place made them: a change that followed what an answer says is told
/// behind it, never before. (Of one key: there may be several servers.) Who is called must not block.
public protocol RemoteSpace: AnyObject, Sendable {
    /// What is stored under the key; `nil` if there is none.
    func fetch(_ key: String, _ then: @escaping @Sendable (Result<RemoteObject?, RemoteError>) -> Void)
    /// Replaces what is there.
    func store(
        _ object: RemoteObject, forKey key: String,
        _ then: @escaping @Sendable (Result<Void, RemoteError>) -> Void)
    /// `true` if there was one.
    func delete(_ key: String, _ then: @escaping @Sendable (Result<Bool, RemoteError>) -> Void)
    /// All objects, or those of an owner. The number of those that were deleted.
    func deleteAll(ofOwner owner: String?, _ then: @escaping @Sendable (Result<Int, RemoteError>) -> Void)
    /// `nil`: until it is deleted or evicted. `true` if there is such an object.
    func expire(
        _ key: String, in lifetime: Duration?, _ then: @escaping @Sendable (Result<Bool, RemoteError>) -> Void
    )
    func close()
}

/// Is told what happens to the objects of a ``RemoteSpace``.
public protocol RemoteListener: AnyObject, Sendable {
    /// From now on every change by others is told.
    func isCovered()
    /// Changes are not told any more; those of the latest ``RemoteTier/staleness`` may have been missed.
    func isUncovered()
    /// Another client has changed, deleted, expired or evicted it.
    func changed(_ key: String)
    /// All objects may have changed.
    func changedAll()
}

/// An object as it is kept remotely.
public struct RemoteObject: Sendable, Hashable {
    /// The encoded object.
    public var bytes: [UInt8]
    /// Of the bytes.
    public var encoding: ValueEncoding
    /// Time until it expires; `nil`: it doesn't.
    public var lifetime: Duration?
    /// How long each process may keep it in memory; `nil`: as long as there is room.
    public var memoryLifetime: Duration?
    /// By whom it can be deleted together with others; `nil`: by nobody.
    public var owner: String?

    /// By default it has neither lifetimes nor an owner.
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

/// Why a remote tier didn't do what was asked.
public enum RemoteError: Error, Hashable {
    /// There is no connection, and the request was not sent.
    case unreachable(tier: String, reason: String)
    /// It was sent, and the connection was lost, or no answer came in time. A change may have been made or not.
    case unanswered(tier: String, reason: String)
    /// The server refused it, and nothing was changed.
    case refused(tier: String, message: String)
    /// Too much is waiting to be sent, so this wasn't.
    case overloaded(tier: String, waiting: Int)
    /// What is stored there under this key was not written by this library, or is damaged.
    case unreadable(tier: String, key: String, reason: String)
    /// The near archive is in use in this process with another tier of that name.
    case otherTier(name: String)

    /// Whether the server may have carried it out.
    package var isUncertain: Bool { if case .unanswered = self { true } else { false } }
}

extension RemoteError: CustomStringConvertible {
    /// The error in one line, for a person.
    public var description: String {
        switch self {
        case .unreachable(let tier, let reason): "\(tier) can't be reached: \(reason) (nothing was sent)"
        case .unanswered(let tier, let reason):
            "\(tier) didn't answer: \(reason); a change may have been made or not"
        case .refused(let tier, let message): "\(tier) refuses: \(message)"
        case .overloaded(let tier, let waiting):
            "\(tier) is too slow: \(waiting) requests wait for it already; this one was not sent"
        case .unreadable(let tier, let key, let reason):
            "what \(tier) has under \"\(key)\" can't be read: \(reason); it stays until it is recorded or deleted"
        case .otherTier(let name):
            "the archive is in use with another tier named \"\(name)\"; keep one tier for each server, or give this one another name"
        }
    }
}

/// What a tier's connection has done in this process.
public struct RemoteHealth: Sendable, Hashable, Codable {
    /// `nil` while it is connected and tells of all changes; otherwise why not.
    public var trouble: String?
    /// How often a connection was made.
    public var connections = 0
    /// How often one was lost, or none could be made.
    public var failures = 0
    /// Requests that were sent.
    public var requests = 0
    /// Requests that got no answer in time.
    public var timeouts = 0
    /// Requests that the server refused.
    public var refusals = 0
    /// Requests that a server of a cluster sent to another one.
    public var redirections = 0
    /// Requests that were sent again, because a cluster was busy with itself.
    public var retries = 0
    /// Requests that were not sent, because there was no connection or too many waited.
    public var unsent = 0
    /// Requests whose answer is waited for.
    public var waiting = 0
    /// What the server has told of changes by others, in keys.
    public var invalidations = 0

    /// Nothing has happened yet.
    public init() {}
}
