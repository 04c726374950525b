extension ThrowingArchives {
    /// As ``ArchiveManager/record(_:forKey:expiresIn:inMemory:owner:)``.
    public func record<Value>(
        _ value: Value, forKey key: String, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil
    ) throws where Object == KeyedValue<Value> {
        try record(
            KeyedValue(value, forKey: key), expiresIn: lifetime, inMemory: memoryLifetime, owner: owner)
    }

    /// As `ArchiveManager.record(all:expiresIn:inMemory:owner:)` for values by their keys.
    public func record<Value>(
        all values: [String: Value], expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil
    ) throws where Object == KeyedValue<Value> {
        try record(
            all: values.map { KeyedValue($1, forKey: $0) }, expiresIn: lifetime, inMemory: memoryLifetime,
            owner: owner)
    }

    /// As ``ArchiveManager/update(_:forKey:expiresIn:inMemory:owner:dropping:)``.
    public func update<Value>(
        _ value: Value, forKey key: String, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil,
        dropping dropped: Set<ArchiveTerm> = []
    ) throws where Object == KeyedValue<Value> {
        try update(
            KeyedValue(value, forKey: key), expiresIn: lifetime, inMemory: memoryLifetime, owner: owner,
            dropping: dropped)
    }

    /// As ``ArchiveManager/value(forKey:)``.
    public func value<Value>(forKey key: String) throws -> Value?
    where Object == KeyedValue<Value> {
        try access(archiveWithKey: key)?.value
    }
}
