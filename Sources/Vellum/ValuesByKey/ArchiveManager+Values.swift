/// The calls of an archive for values by key, which wrap and unwrap ``KeyedValue``. The calls for objects work as well.
extension ArchiveManager {
    /// As ``record(_:options:)`` for a value by key.
    public func record<Value>(_ value: Value, forKey key: String, options: EntryOptions = EntryOptions())
    where Object == KeyedValue<Value> {
        record(KeyedValue(value, forKey: key), options: options)
    }

    /// As `record(all:options:)` for values by their keys, in unspecified order of recency.
    public func record<Value>(all values: [String: Value], options: EntryOptions = EntryOptions())
    where Object == KeyedValue<Value> {
        record(all: values.map { KeyedValue($1, forKey: $0) }, options: options)
    }

    /// As ``update(_:options:)`` for a value by key.
    public func update<Value>(_ value: Value, forKey key: String, options: EntryOptions = EntryOptions())
    where Object == KeyedValue<Value> {
        update(KeyedValue(value, forKey: key), options: options)
    }

    /// As ``access(archiveWithKey:)``.
    public func value<Value>(forKey key: String) -> Value? where Object == KeyedValue<Value> {
        access(archiveWithKey: key)?.value
    }

    /// The value with this key (``value(forKey:)``). Assigning updates it (``update(_:)``), or deletes it by `nil`.
    public subscript<Value>(key: String) -> Value? where Object == KeyedValue<Value> {
        get { value(forKey: key) }
        set {
            if let newValue {
                update(newValue, forKey: key)
            } else {
                delete(archiveWithKey: key)
            }
        }
    }

    /// As `value(forKey:options:renewingBefore:waitingForProcesses:orCompute:)`, but `compute` returns only the value.
    @_disfavoredOverload
    public func value<Value>(
        forKey key: String, options: EntryOptions = EntryOptions(), renewingBefore renewal: Duration? = nil,
        waitingForProcesses timeout: Duration? = nil, orCompute compute: () throws -> Value
    ) throws -> Value where Object == KeyedValue<Value> {
        try value(
            forKey: key, options: options, renewingBefore: renewal, waitingForProcesses: timeout
        ) { KeyedValue(try compute(), forKey: key) }.value
    }

    /// As ``modify(archiveWithKey:options:_:)`` for a value: `try texts.modify(forKey: "/") { $0 += "x" }`.
    @discardableResult
    public func modify<Value>(
        forKey key: String, options: EntryOptions = EntryOptions(), _ change: (inout Value) throws -> Void
    ) throws -> Value? where Object == KeyedValue<Value> {
        try modify(archiveWithKey: key, options: options) { try change(&$0.value) }?.value
    }

    /// As ``modify(archiveWithKey:default:options:_:)`` for a value.
    @discardableResult
    public func modify<Value>(
        forKey key: String, default initial: @autoclosure () throws -> Value,
        options: EntryOptions = EntryOptions(), _ change: (inout Value) throws -> Void
    ) throws -> Value where Object == KeyedValue<Value> {
        try modify(
            archiveWithKey: key, default: KeyedValue(try initial(), forKey: key), options: options
        ) { try change(&$0.value) }.value
    }

    /// As ``record(_:replacing:options:)`` for a value.
    public func record<Value>(
        _ value: Value, forKey key: String, replacing expected: Value?, options: EntryOptions = EntryOptions()
    ) throws -> Bool where Object == KeyedValue<Value>, Value: Equatable {
        try record(
            KeyedValue(value, forKey: key), replacing: expected.map { KeyedValue($0, forKey: key) },
            options: options)
    }

    /// The value with this key, now and after each change by any process; `nil` while absent.
    public func values<Value>(forKey key: String) -> FollowedValues<Value?>
    where Object == KeyedValue<Value>, Value: SendableMetatype {
        handle.values(forKey: key) { $0.value }
    }
}

extension ArchiveTransaction {
    /// As ``access(archiveWithKey:)`` for a value by key.
    public mutating func value<Value>(forKey key: String) throws -> Value?
    where Object == KeyedValue<Value> {
        try access(archiveWithKey: key)?.value
    }

    /// As ``record(_:options:)`` for a value by key.
    public mutating func record<Value>(
        _ value: Value, forKey key: String, options: EntryOptions = EntryOptions()
    ) throws where Object == KeyedValue<Value> {
        try record(KeyedValue(value, forKey: key), options: options)
    }

    /// As ``update(_:options:)`` for a value by key.
    public mutating func update<Value>(
        _ value: Value, forKey key: String, options: EntryOptions = EntryOptions()
    ) throws where Object == KeyedValue<Value> {
        try update(KeyedValue(value, forKey: key), options: options)
    }
}
