import StorageEngine

/// Options of an entry: `users.record(user, options: .init(expiresIn: .seconds(60), owner: "session 7"))`.
///
/// A record sets all of them. An update keeps the entry's own where they are `nil`, except those in ``dropped``; times
/// that are given count from now.
public struct EntryOptions: Sendable, Hashable {
    /// An option that an update can remove.
    public enum Option: Sendable, Hashable, CaseIterable {
        /// ``EntryOptions/lifetime``.
        case lifetime
        /// ``EntryOptions/memoryLifetime``.
        case memoryLifetime
        /// ``EntryOptions/owner``.
        case owner
    }

    /// The time after which the object expires; `nil`: that of the archive, if it has one.
    public var lifetime: Duration?
    /// The time after which a process drops the object from memory; the next access reads it from disk. `nil`: no limit.
    public var memoryLifetime: Duration?
    /// 1 to 255 bytes of UTF-8; `nil`: none. All objects of an owner can be deleted together.
    public var owner: String?
    /// Options that an update removes from the entry. Only updates use it.
    public var dropped: Set<Option>

    /// Creates options, by default none.
    public init(
        expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil, owner: String? = nil,
        dropping dropped: Set<Option> = []
    ) {
        self.lifetime = lifetime
        self.memoryLifetime = memoryLifetime
        self.owner = owner
        self.dropped = dropped
    }
}

struct ResolvedOptions: Sendable {
    var attributes = EntryAttributes()
    /// The options that an update keeps. (`[]` would call a generic initializer, in every `record`.)
    var kept = KeptOptions(rawValue: 0)
    var isUpdate = false

    static func new(_ options: EntryOptions) -> ResolvedOptions {
        ResolvedOptions(
            attributes: EntryAttributes(
                lifetime: options.lifetime, memoryLifetime: options.memoryLifetime, owner: options.owner))
    }

    static func updated(_ options: EntryOptions = EntryOptions()) -> ResolvedOptions {
        var resolved = new(options)
        resolved.isUpdate = true
        if options.lifetime == nil, !options.dropped.contains(.lifetime) { resolved.kept.insert(.lifetime) }
        if options.memoryLifetime == nil, !options.dropped.contains(.memoryLifetime) {
            resolved.kept.insert(.memoryLifetime)
        }
        if options.owner == nil, !options.dropped.contains(.owner) { resolved.kept.insert(.owner) }
        return resolved
    }

    /// These options, with the archive's default lifetime if they have none.
    func completed(_ standard: Duration?) -> ResolvedOptions {
        guard let standard, attributes.lifetime == nil, !isUpdate || keepsLifetime else { return self }
        var resolved = self
        // For an update it applies if no entry exists whose lifetime could be kept.
        resolved.attributes.lifetime = standard
        return resolved
    }

    var keepsLifetime: Bool { isUpdate && kept.contains(.lifetime) }
}
