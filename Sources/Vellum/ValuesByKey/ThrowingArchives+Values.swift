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

    /// As `value(forKey:expiresIn:inMemory:owner:renewingBefore:waitingForProcesses:orCompute:)`, but `compute`
    /// returns only the value.
    @_disfavoredOverload
    public func value<Value>(
        forKey key: String, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil, renewingBefore renewal: Duration? = nil,
        waitingForProcesses patience: Duration? = nil,
        orCompute compute: () throws -> Value
    ) throws -> Value where Object == KeyedValue<Value> {
        try value(
            forKey: key, expiresIn: lifetime, inMemory: memoryLifetime, owner: owner,
            renewingBefore: renewal, waitingForProcesses: patience
        ) {
            KeyedValue(try compute(), forKey: key)
        }.value
    }

    /// As ``ArchiveManager/modify(forKey:expiresIn:inMemory:owner:_:)``.
    @discardableResult
    public func modify<Value>(
        forKey key: String, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil, _ change: (inout Value) throws -> Void
    ) throws -> Value? where Object == KeyedValue<Value> {
        try modify(
            archiveWithKey: key, expiresIn: lifetime, inMemory: memoryLifetime, owner: owner
        ) { try change(&$0.value) }?.value
    }

    /// As ``ArchiveManager/modify(forKey:default:expiresIn:inMemory:owner:_:)``.
    @discardableResult
    public func modify<Value>(
        forKey key: String, default initial: @autoclosure () throws -> Value,
        expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil, owner: String? = nil,
        _ change: (inout Value) throws -> Void
    ) throws -> Value where Object == KeyedValue<Value> {
        try modify(
            archiveWithKey: key, default: KeyedValue(try initial(), forKey: key), expiresIn: lifetime,
            inMemory: memoryLifetime, owner: owner
        ) { try change(&$0.value) }.value
    }

    /// As ``ArchiveManager/record(_:forKey:replacing:expiresIn:inMemory:owner:)``.
    public func record<Value>(
        _ value: Value, forKey key: String, replacing expected: Value?, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil
    ) throws -> Bool where Object == KeyedValue<Value>, Value: Equatable {
        try record(
            KeyedValue(value, forKey: key), replacing: expected.map { KeyedValue($0, forKey: key) },
            expiresIn: lifetime, inMemory: memoryLifetime, owner: owner)
    }
}
