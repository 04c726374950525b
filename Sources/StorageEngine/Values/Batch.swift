/// An atomic set of changes to one archive: every process sees all of them or none, even after a crash (S15). Build it
/// first, then pass it to ``Archive/apply(_:)``.
///
/// If several changes have the same key, the last one counts. Values, keys and owners, with some 70 bytes for each
/// change, may take ``maximumBytes``.
public struct Batch: Sendable {
    /// Most bytes of a batch: values, keys, owners, and up to 120 bytes for each change.
    public static let maximumBytes = 48 << 20

    struct Item: Sendable {
        var key: String
        /// The new value; `nil` for a delete.
        var value: [UInt8]?
        var encoding = ValueEncoding.unknown
        var attributes = EntryAttributes.none
        var keepsCreation = false
        var kept: KeptOptions = []
        /// Creation time of a new entry; `nil`: the time at which the batch is applied.
        var created: Timestamp?
    }

    private(set) var items: [Item] = []

    /// A batch without changes.
    public init() {}

    /// Number of changes so far.
    public var count: Int { items.count }
    /// Whether there are no changes yet.
    public var isEmpty: Bool { items.isEmpty }

    /// Like ``Archive/put(_:forKey:encoding:attributes:)``, when the batch is applied.
    public mutating func put(
        _ value: [UInt8], forKey key: String, encoding: ValueEncoding = .unknown,
        attributes: EntryAttributes = .none
    ) {
        items.append(Item(key: key, value: value, encoding: encoding, attributes: attributes))
    }

    /// Like ``Archive/update(_:forKey:encoding:attributes:)``, when the batch is applied.
    public mutating func update(
        _ value: [UInt8], forKey key: String, encoding: ValueEncoding = .unknown,
        attributes: EntryAttributes = .none
    ) {
        items.append(
            Item(key: key, value: value, encoding: encoding, attributes: attributes, keepsCreation: true))
    }

    /// Like ``update(_:forKey:encoding:attributes:)``, but keeps the present entry's options in `kept`. A new entry is created at
    /// `created`, by default when the batch is applied.
    package mutating func update(
        _ value: [UInt8], forKey key: String, encoding: ValueEncoding, attributes: EntryAttributes,
        keeping kept: KeptOptions = [], created: Timestamp? = nil
    ) {
        items.append(
            Item(
                key: key, value: value, encoding: encoding, attributes: attributes, keepsCreation: true,
                kept: kept, created: created))
    }

    /// Like ``Archive/delete(_:)``, when the batch is applied.
    public mutating func delete(_ key: String) { items.append(Item(key: key)) }
}

/// The version of an entry that a batch depends on.
public struct SeenEntry: Sendable, Hashable {
    /// The entry's key.
    public var key: String
    /// The entry's ``CurrentEntry/sequence``; `nil`: the key must be absent.
    public var sequence: UInt64?

    /// The condition that `key` has an entry with this sequence, or no entry if it is `nil`.
    public init(key: String, sequence: UInt64?) {
        self.key = key
        self.sequence = sequence
    }
}

/// The result of one change of a batch.
public enum BatchResult: Sendable, Hashable {
    /// The value is stored; the key was absent.
    case stored
    /// The value is stored in place of another.
    case replaced
    /// The entry was deleted.
    case deleted
    /// The key was absent, so nothing was deleted.
    case absent
    /// A later change of the batch has the same key and replaced this one.
    case superseded
}

package struct KeptOptions: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let lifetime = KeptOptions(rawValue: 1)
    package static let memoryLifetime = KeptOptions(rawValue: 2)
    package static let owner = KeptOptions(rawValue: 4)
}
