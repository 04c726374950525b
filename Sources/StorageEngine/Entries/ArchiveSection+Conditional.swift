extension ArchiveEngine {
    /// Like ``putMakingRoom(_:key:tag:)``, but only if operation `sequence` stored the present entry or, with `nil`, if the key
    /// is absent. Returns `nil` if nothing was stored. With `keepsTraits` it keeps expiry time, memory interval and owner. With
    /// `seesMemory` an entry in only this process's memory counts as present.
    func put(
        _ request: PutRequest, key: UnsafeRawBufferPointer, ifSequence sequence: UInt64?, keepsTraits: Bool,
        seesMemory: Bool
    ) throws(StorageError) -> HeldEntry? {
        do throws(StorageError) {
            return try putOnce(request, key, ifSequence: sequence, keepsTraits, seesMemory)
        } catch {
            guard case .noSpace = error else { throw error }
            let bytes = Frame.bytes(
                key: key.count, extension: request.traits.bytes, value: request.value.count)
            return try makingRoom(for: bytes, refusal: error) { () throws(StorageError) in
                try putOnce(request, key, ifSequence: sequence, keepsTraits, seesMemory)
            }
        }
    }

    private func putOnce(
        _ request: PutRequest, _ key: UnsafeRawBufferPointer, ifSequence sequence: UInt64?,
        _ keepsTraits: Bool, _ seesMemory: Bool
    ) throws(StorageError) -> HeldEntry? {
        try ArchiveEngine.validate(key: key)
        let tag = UInt32(truncatingIfNeeded: hash(key))
        try admit(request, key: key, tag: tag)
        return try acquire().put(request, key, tag: tag, ifSequence: sequence, keepsTraits, seesMemory)
    }
}

extension ArchiveSection {
    fileprivate func put(
        _ request: PutRequest, _ key: UnsafeRawBufferPointer, tag: UInt32, ifSequence sequence: UInt64?,
        _ keepsTraits: Bool, _ seesMemory: Bool
    ) throws(StorageError) -> HeldEntry? {
        var request = request
        let present = try findToChange(key, tag: tag)
        defer { if let present { engine.unpin(present) } }
        let found = try present.map { (present) throws(StorageError) in
            let isPassedOver = present.slot.isMemoryOnly && !seesMemory
            return isPassedOver ? nil : try engine.presentSequence(of: present, key, tag: tag)
        }
        guard sequence == found ?? nil else { return nil }
        if keepsTraits, let present, sequence != nil {
            request.traits = present.frame.traits
            request.traits.deadline = present.slot.deadline
        }
        return try put(request, key: key, tag: tag)
    }
}

extension ArchiveEngine {
    /// Sequence of the operation that stored the entry this process finds. `nil` if it is expired or in another process's memory.
    func presentSequence(
        of entry: FoundEntry, _ key: UnsafeRawBufferPointer, tag: UInt32
    ) throws(StorageError) -> UInt64? {
        guard entry.slot.isMemoryOnly else {
            return (entry.standing ?? .valid) == .valid ? entry.frame.sequence : nil
        }
        guard let own = ownMemoryOnlyNumber(of: key, tag: tag), isPresent(own) else { return nil }
        return try sequence(of: own)
    }
}
