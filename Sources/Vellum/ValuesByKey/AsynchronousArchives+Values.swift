extension AsynchronousArchives {
    /// As ``ArchiveManager/record(_:forKey:expiresIn:inMemory:owner:)``.
    public nonisolated(nonsending) func record<Value>(
        _ value: Value, forKey key: String, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil
    ) async throws where Object == KeyedValue<Value> {
        try await record(
            KeyedValue(value, forKey: key), expiresIn: lifetime, inMemory: memoryLifetime, owner: owner)
    }

    /// As `ArchiveManager.record(all:expiresIn:inMemory:owner:)` for values by their keys.
    public nonisolated(nonsending) func record<Value>(
        all values: [String: Value], expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil
    ) async throws where Object == KeyedValue<Value> {
        try await record(
            all: values.map { KeyedValue($1, forKey: $0) }, expiresIn: lifetime, inMemory: memoryLifetime,
            owner: owner)
    }

    /// As ``ArchiveManager/update(_:forKey:expiresIn:inMemory:owner:dropping:)``.
    public nonisolated(nonsending) func update<Value>(
        _ value: Value, forKey key: String, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil,
        dropping dropped: Set<ArchiveTerm> = []
    ) async throws where Object == KeyedValue<Value> {
        try await update(
            KeyedValue(value, forKey: key), expiresIn: lifetime, inMemory: memoryLifetime, owner: owner,
            dropping: dropped)
    }

    /// As ``ArchiveManager/value(forKey:)``.
    public nonisolated(nonsending) func value<Value>(forKey key: String) async throws -> Value?
    where Object == KeyedValue<Value> {
        try await access(archiveWithKey: key)?.value
    }

    /// As `value(forKey:expiresIn:inMemory:owner:renewingBefore:waitingForProcesses:orCompute:)`, but `compute`
    /// returns only the value.
    @_disfavoredOverload
    public nonisolated(nonsending) func value<Value>(
        forKey key: String, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil, renewingBefore renewal: Duration? = nil,
        waitingForProcesses patience: Duration? = nil,
        orCompute compute: @escaping @Sendable () async throws -> sending Value
    ) async throws -> Value where Object == KeyedValue<Value>, Value: SendableMetatype {
        try await value(
            forKey: key, expiresIn: lifetime, inMemory: memoryLifetime, owner: owner,
            renewingBefore: renewal, waitingForProcesses: patience
        ) {
            KeyedValue(try await compute(), forKey: key)
        }.value
    }
}
