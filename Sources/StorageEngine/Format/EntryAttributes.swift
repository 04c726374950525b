/// Optional properties of an entry besides its value.
public struct EntryAttributes: Sendable, Hashable {
    /// Time from storing the entry until it expires (S8). `nil`: until it is deleted or evicted. Zero or less: it expires at
    /// once. Measured on a clock that continues during sleep and can't be set.
    public var lifetime: Duration?
    /// Longest time that an object may stay in memory after being read from disk. `nil`: as long as there is space.
    public var memoryLifetime: Duration?
    /// A label for entries that belong together, 1 to 255 bytes of UTF-8. `nil`: none.
    public var owner: String?

    /// Attributes for an entry. The owner's length is checked when the entry is stored.
    public init(lifetime: Duration? = nil, memoryLifetime: Duration? = nil, owner: String? = nil) {
        self.lifetime = lifetime
        self.memoryLifetime = memoryLifetime
        self.owner = owner
    }

    /// No lifetimes and no owner.
    public static let none = EntryAttributes()
}

extension EntryAttributes {
    /// Calls `body` with the attributes in the engine's form, which are valid during the call.
    @inline(__always)
    func withTraits<Value>(
        _ body: (EntryTraits) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        if lifetime == nil, memoryLifetime == nil, owner == nil { return try body(EntryTraits()) }
        return try withSpecialTraits(body)
    }

    @inline(never)
    private func withSpecialTraits<Value>(
        _ body: (EntryTraits) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        var traits = EntryTraits()
        traits.deadline = ArchiveEngine.deadline(in: lifetime)
        traits.memoryInterval = memoryLifetime.map { max(1, $0.clampedMicroseconds) } ?? 0
        guard let owner else { return try body(traits) }
        try EntryAttributes.checkNotEmpty(owner: owner)
        guard owner.utf8.count <= FrameExtension.maximumOwnerBytes else {
            throw .invalidOwner(
                reason: "\(owner.utf8.count) bytes; use at most \(FrameExtension.maximumOwnerBytes)")
        }
        return try withBytes(of: owner) { (bytes) throws(StorageError) in
            traits.owner = bytes
            return try body(traits)
        }
    }

    package func validate() throws(StorageError) {
        try withTraits { (_) throws(StorageError) in }
    }

    /// Rejects an empty name, usually an unset variable: it would select all entries without an owner for deletion.
    static func checkNotEmpty(owner: String) throws(StorageError) {
        guard owner.isEmpty else { return }
        throw .invalidOwner(
            reason: "it is empty; use 1 to \(FrameExtension.maximumOwnerBytes) bytes, or no owner")
    }
}
