/// What an entry may have besides its value.
public struct EntryAttributes: Sendable, Hashable {
    /// How long the entry lives, from when it is stored; it expires then (S8). `nil`: until it is deleted or
    /// evicted. Zero and less: it has expired at once. Measured on a clock that goes on while the machine sleeps
    /// and that no one can set.
    public var lifetime: Duration?
    /// How long an object may stay in the memory of a process from each time that it is read from disk. `nil`:
    /// as long as there is room.
    public var memoryLifetime: Duration?
    /// A label for entries that belong together, 1 to 255 bytes of UTF-8. `nil`: none.
    public var owner: String?

    public init(lifetime: Duration? = nil, memoryLifetime: Duration? = nil, owner: String? = nil) {
        self.lifetime = lifetime
        self.memoryLifetime = memoryLifetime
        self.owner = owner
    }

    public static let none = EntryAttributes()
}

extension EntryAttributes {
    /// Calls `body` with the attributes as the engine keeps them, valid during the call.
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

    /// An empty name isn't another word for no owner: who asks for one has forgotten to fill it in, and would delete what is
    /// nobody's.
    static func checkNotEmpty(owner: String) throws(StorageError) {
        guard owner.isEmpty else { return }
        throw .invalidOwner(
            reason: "it is empty; use 1 to \(FrameExtension.maximumOwnerBytes) bytes, or none at all")
    }
}
