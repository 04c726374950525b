/// Optional properties of an entry besides key and value, stored in its frame if present.
struct FrameOptions {
    /// Expiry time on the boot clock.
    var deadline: Int64 = Deadline.never
    /// Longest time in microseconds that the object may stay in a process's memory; 0: no limit.
    var memoryInterval: Int64 = 0
    /// UTF-8; empty: no owner.
    var owner = UnsafeRawBufferPointer.empty
    /// Size of a memory-only entry in bytes; 0 for all others.
    var residentBytes: UInt64 = 0

    @inline(__always) var isPlain: Bool {
        deadline == Deadline.never && memoryInterval == 0 && owner.isEmpty && residentBytes == 0
    }

    var bytes: Int {
        FrameExtension.partBytes(deadline == Deadline.never ? 0 : Deadline.bytes)
            + FrameExtension.partBytes(memoryInterval == 0 ? 0 : 8) + FrameExtension.partBytes(owner.count)
            + FrameExtension.partBytes(residentBytes == 0 ? 0 : 8)
    }

    func write(to writer: inout ExtensionWriter) {
        if deadline != Deadline.never {
            writer.append(.deadline, Deadline(boot: deadline, now: Clock.read()))
        }
        if memoryInterval != 0, let bytes = writer.part(.memoryInterval, bytes: 8) {
            bytes.storeBytes(of: memoryInterval, as: Int64.self)
        }
        if !owner.isEmpty { writer.part(.owner, bytes: owner.count)?.copyMemory(from: owner) }
        if residentBytes != 0, let bytes = writer.part(.resident, bytes: 8) {
            bytes.storeBytes(of: residentBytes, as: UInt64.self)
        }
    }
}

extension Frame {
    /// The frame's entry options, valid as long as its segment is pinned.
    var options: FrameOptions {
        var options = FrameOptions()
        guard extensionBytes > 0 else { return options }
        options.deadline = deadline(.deadline)
        options.memoryInterval = memoryInterval
        options.owner = owner
        // Other frames have a value, and the part has no meaning.
        if kind == .resident { options.residentBytes = number(.resident) ?? 0 }
        return options
    }

    var owner: UnsafeRawBufferPointer { part(.owner) ?? .empty }

    var memoryInterval: Int64 { max(0, number(.memoryInterval) ?? 0) }
}

extension EntryAttributes {
    /// Calls `body` with the attributes in the engine's form, which are valid during the call.
    @inline(__always) func withFrameOptions<Value>(
        _ body: (FrameOptions) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        if lifetime == nil, memoryLifetime == nil, owner == nil { return try body(FrameOptions()) }
        return try withSpecialFrameOptions(body)
    }

    @inline(never) private func withSpecialFrameOptions<Value>(
        _ body: (FrameOptions) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        var options = FrameOptions()
        options.deadline = Deadline.boot(in: lifetime)
        options.memoryInterval = memoryLifetime.map { max(1, $0.clampedMicroseconds) } ?? 0
        guard let owner else { return try body(options) }
        try EntryAttributes.checkNotEmpty(owner: owner)
        guard owner.utf8.count <= FrameExtension.maximumOwnerBytes else {
            throw .invalidOwner(
                reason: "\(owner.utf8.count) bytes; use at most \(FrameExtension.maximumOwnerBytes)")
        }
        return try withBytes(of: owner) { (bytes) throws(StorageError) in
            options.owner = bytes
            return try body(options)
        }
    }

    package func validate() throws(StorageError) {
        try withFrameOptions { (_) throws(StorageError) in }
    }

    /// Rejects an empty name, usually an unset variable: it would select all entries without an owner for deletion.
    static func checkNotEmpty(owner: String) throws(StorageError) {
        guard owner.isEmpty else { return }
        throw .invalidOwner(
            reason: "it is empty; use 1 to \(FrameExtension.maximumOwnerBytes) bytes, or no owner")
    }
}
