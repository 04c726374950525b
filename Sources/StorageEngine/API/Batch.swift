/// Changes of one archive that are made together: nobody, in whatever process, finds some of them done and others
/// not, whatever crashes (S15). A value that is built up first and then given to ``Archive/apply(_:)``.
///
/// Of several changes of one key the last counts. Together with their keys and some 70 bytes each the changes may take
/// ``maximumBytes``.
public struct Batch: Sendable {
    /// Most bytes of one batch: values, keys, owners, and up to 120 bytes for each change.
    public static let maximumBytes = BatchHeader.maximumFrameBytes

    struct Item: Sendable {
        var key: String
        /// `nil`: the entry is deleted.
        var value: [UInt8]?
        var encoding = ValueEncoding.unknown
        var attributes = EntryAttributes.none
        var keepsCreation = false
        /// Which terms of the entry that is there stay as they are.
        var kept: KeptTerms = []
        /// When the object was first recorded, where there is no entry yet; `nil`: when the batch is made.
        var created: Timestamp?
    }

    private(set) var items: [Item] = []

    public init() {}

    /// Changes so far.
    public var count: Int { items.count }
    public var isEmpty: Bool { items.isEmpty }

    /// As ``Archive/put(_:forKey:encoding:attributes:)``.
    public mutating func put(
        _ value: [UInt8], forKey key: String, encoding: ValueEncoding = .unknown,
        attributes: EntryAttributes = .none
    ) {
        items.append(Item(key: key, value: value, encoding: encoding, attributes: attributes))
    }

    /// As ``Archive/update(_:forKey:encoding:attributes:)``.
    public mutating func update(
        _ value: [UInt8], forKey key: String, encoding: ValueEncoding = .unknown,
        attributes: EntryAttributes = .none
    ) {
        items.append(
            Item(key: key, value: value, encoding: encoding, attributes: attributes, keepsCreation: true))
    }

    /// As ``update(_:forKey:encoding:attributes:)``; `kept` of the terms are those of the entry that is there when the batch
    /// is made, the others those of `attributes`.
    package mutating func update(
        _ value: [UInt8], forKey key: String, encoding: ValueEncoding, attributes: EntryAttributes,
        keeping kept: KeptTerms
    ) {
        items.append(
            Item(
                key: key, value: value, encoding: encoding, attributes: attributes, keepsCreation: true,
                kept: kept))
    }

    /// As ``update(_:forKey:encoding:attributes:)``; a new entry has this creation time instead of the batch's, so that the entries
    /// of one batch have an order.
    package mutating func update(
        _ value: [UInt8], forKey key: String, encoding: ValueEncoding, attributes: EntryAttributes,
        created: Timestamp
    ) {
        items.append(
            Item(
                key: key, value: value, encoding: encoding, attributes: attributes, keepsCreation: true,
                created: created))
    }

    /// As ``Archive/delete(_:)``.
    public mutating func delete(_ key: String) { items.append(Item(key: key)) }
}

/// Which version of an entry somebody has seen.
public struct SeenEntry: Sendable, Hashable {
    public var key: String
    /// Its ``CurrentEntry/sequence``; `nil`: there was none.
    public var sequence: UInt64?

    public init(key: String, sequence: UInt64?) {
        self.key = key
        self.sequence = sequence
    }
}

/// What became of one change of a batch.
public enum BatchResult: Sendable, Hashable {
    /// The value is stored; there was no entry of that key.
    case stored
    /// The value is stored in place of another.
    case replaced
    case deleted
    /// There was nothing to delete.
    case absent
    /// A later change of the same batch has the same key, and counts instead.
    case superseded
}
