import StorageEngine

/// A value as it was when it was read. A value; safe to share between threads.
package struct StoredValue: Sendable, Hashable {
    package var bytes: [UInt8]
    package var encoding: ValueEncoding
    /// Number of the operation that stored it, and when its key was first recorded: another archive that took this one's
    /// place may have the same number.
    package var sequence: UInt64
    package var created: Timestamp

    package init(_ bytes: [UInt8], encoding: ValueEncoding, sequence: UInt64, created: Timestamp) {
        self.bytes = bytes
        self.encoding = encoding
        self.sequence = sequence
        self.created = created
    }
}

/// What a person wrote, to be stored only if the entry is still what it was. A value; safe to share between threads.
package struct StoredEdit: Sendable, Hashable {
    package let key: String
    package let bytes: [UInt8]
    package let encoding: ValueEncoding
    /// The value that it replaces, whose lifetime and owner stay; nil: there is no entry of that key.
    package let replacing: StoredValue?
}
