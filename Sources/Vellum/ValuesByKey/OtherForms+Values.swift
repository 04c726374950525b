extension ThrowingArchives {
    /// As ``ArchiveManager/record(_:forKey:options:)``.
    public func record<Value>(
        _ value: Value, forKey key: String, options: EntryOptions = EntryOptions()
    ) throws where Object == KeyedValue<Value> {
        try record(KeyedValue(value, forKey: key), options: options)
    }

    /// As `ArchiveManager.record(all:options:)` for values by their keys.
    public func record<Value>(
        all values: [String: Value], options: EntryOptions = EntryOptions()
    ) throws where Object == KeyedValue<Value> {
        try record(all: values.map { KeyedValue($1, forKey: $0) }, options: options)
    }

    /// As ``ArchiveManager/update(_:forKey:options:)``.
    public func update<Value>(
        _ value: Value, forKey key: String, options: EntryOptions = EntryOptions()
    ) throws where Object == KeyedValue<Value> {
        try update(KeyedValue(value, forKey: key), options: options)
    }

    /// As ``ArchiveManager/value(forKey:)``.
    public func value<Value>(forKey key: String) throws -> Value?
    where Object == KeyedValue<Value> {
        try access(archiveWithKey: key)?.value
    }
}

extension AsynchronousArchives {
    /// As ``ArchiveManager/record(_:forKey:options:)``.
    public nonisolated(nonsending) func record<Value>(
        _ value: Value, forKey key: String, options: EntryOptions = EntryOptions()
    ) async throws where Object == KeyedValue<Value> {
        try await record(KeyedValue(value, forKey: key), options: options)
    }

    /// As `ArchiveManager.record(all:options:)` for values by their keys.
    public nonisolated(nonsending) func record<Value>(
        all values: [String: Value], options: EntryOptions = EntryOptions()
    ) async throws where Object == KeyedValue<Value> {
        try await record(all: values.map { KeyedValue($1, forKey: $0) }, options: options)
    }

    /// As ``ArchiveManager/update(_:forKey:options:)``.
    public nonisolated(nonsending) func update<Value>(
        _ value: Value, forKey key: String, options: EntryOptions = EntryOptions()
    ) async throws where Object == KeyedValue<Value> {
        try await update(KeyedValue(value, forKey: key), options: options)
    }

    /// As ``ArchiveManager/value(forKey:)``.
    public nonisolated(nonsending) func value<Value>(forKey key: String) async throws -> Value?
    where Object == KeyedValue<Value> {
        try await access(archiveWithKey: key)?.value
    }

    /// As `value(forKey:options:renewingBefore:waitingForProcesses:orCompute:)`, but `compute` returns only the value.
    @_disfavoredOverload
    public nonisolated(nonsending) func value<Value>(
        forKey key: String, options: EntryOptions = EntryOptions(), renewingBefore renewal: Duration? = nil,
        waitingForProcesses timeout: Duration? = nil,
        orCompute compute: @escaping @Sendable () async throws -> sending Value
    ) async throws -> Value where Object == KeyedValue<Value>, Value: SendableMetatype {
        try await value(
            forKey: key, options: options, renewingBefore: renewal, waitingForProcesses: timeout
        ) { KeyedValue(try await compute(), forKey: key) }.value
    }
}
