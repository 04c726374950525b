/// Archives of values without a key of their own.
extension ArchivesFactory {
    /// An archive of values by key: of `Data`, of `String`, or of any `Codable` type, without a type that wraps them.
    ///
    /// ```swift
    /// let images = try ArchivesFactory.shared.values(of: Data.self, named: "images")
    /// images.record(bytes, forKey: "logo.png")
    /// let bytes = images.value(forKey: "logo.png")
    /// ```
    ///
    /// It is an ``ArchiveManager`` of ``KeyedValue``s, with all of its calls. The parameters are those of
    /// ``archives(for:named:trySetMaxMemorySize:trySetMaxDiskSize:kind:durability:lifetime:slides:appliesSettings:)``.
    public func values<Value: Codable & Sendable>(
        of type: Value.Type = Value.self, named name: String, trySetMaxMemorySize memorySize: Int = 0,
        trySetMaxDiskSize diskSize: Int = 0, kind: ArchiveKind? = nil, durability: Durability? = nil,
        lifetime: Duration? = nil, slides: Bool = false, appliesSettings: Bool = false
    ) throws -> ArchiveOfValues<Value> {
        try archives(
            for: KeyedValue<Value>.self, named: name, trySetMaxMemorySize: memorySize,
            trySetMaxDiskSize: diskSize, kind: kind, durability: durability, lifetime: lifetime,
            slides: slides, appliesSettings: appliesSettings)
    }

    /// The same for a type that isn't known to be `Sendable`.
    public func values<Value: Codable>(
        of type: Value.Type = Value.self, named name: String, trySetMaxMemorySize memorySize: Int = 0,
        trySetMaxDiskSize diskSize: Int = 0, kind: ArchiveKind? = nil, durability: Durability? = nil,
        lifetime: Duration? = nil, slides: Bool = false, appliesSettings: Bool = false
    ) throws -> ArchiveOfValues<Value> {
        try archives(
            for: KeyedValue<Value>.self, named: name, trySetMaxMemorySize: memorySize,
            trySetMaxDiskSize: diskSize, kind: kind, durability: durability, lifetime: lifetime,
            slides: slides, appliesSettings: appliesSettings)
    }
}

extension ArchiveManager {
    /// As ``record(_:expiresIn:inMemory:owner:)`` for a value by key.
    public func record<Value>(
        _ value: Value, forKey key: String, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil
    ) where Archive == KeyedValue<Value> {
        attempt("record", key, else: ()) {
            try $0.store(
                KeyedValue(value, forKey: key),
                .new(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner))
        }
    }

    /// As ``access(archiveWithKey:)``.
    public func value<Value>(forKey key: String) -> Value? where Archive == KeyedValue<Value> {
        access(archiveWithKey: key)?.value
    }

    /// Reading is ``value(forKey:)``. Assigning a value updates the entry as ``update(_:)`` does; assigning `nil`
    /// deletes it.
    public subscript<Value>(key: String) -> Value? where Archive == KeyedValue<Value> {
        get { value(forKey: key) }
        set {
            if let newValue {
                update(KeyedValue(newValue, forKey: key))
            } else {
                delete(archiveWithKey: key)
            }
        }
    }
}

extension ThrowingArchives {
    /// As ``ArchiveManager/record(_:forKey:expiresIn:inMemory:owner:)``.
    public func record<Value>(
        _ value: Value, forKey key: String, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil
    ) throws where Archive == KeyedValue<Value> {
        try record(
            KeyedValue(value, forKey: key), expiresIn: lifetime, inMemory: memoryLifetime, owner: owner)
    }

    /// As ``ArchiveManager/value(forKey:)``.
    public func value<Value>(forKey key: String) throws -> Value? where Archive == KeyedValue<Value> {
        try access(archiveWithKey: key)?.value
    }
}

extension AsynchronousArchives {
    /// As ``ArchiveManager/record(_:forKey:expiresIn:inMemory:owner:)``.
    public nonisolated(nonsending) func record<Value>(
        _ value: Value, forKey key: String, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil
    ) async throws where Archive == KeyedValue<Value> {
        try await record(
            KeyedValue(value, forKey: key), expiresIn: lifetime, inMemory: memoryLifetime, owner: owner)
    }

    /// As ``ArchiveManager/value(forKey:)``.
    public nonisolated(nonsending) func value<Value>(forKey key: String) async throws -> Value?
    where Archive == KeyedValue<Value> {
        try await access(archiveWithKey: key)?.value
    }
}
