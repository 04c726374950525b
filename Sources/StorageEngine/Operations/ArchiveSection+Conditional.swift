extension ArchiveEngine {
    /// As ``putMakingRoom(_:key:tag:)``, but only while the entry is still the one that operation `sequence` stored;
    /// `nil`: only while there is none. With `keepsTraits` it keeps deadline, memory interval and owner.
    func put(
        _ request: PutRequest, key: UnsafeRawBufferPointer, ifSequence sequence: UInt64?, keepsTraits: Bool
    ) throws(StorageError) -> ConditionalPut {
        do throws(StorageError) {
            return try putOnce(request, key: key, ifSequence: sequence, keepsTraits: keepsTraits)
        } catch {
            guard case .noSpace = error else { throw error }
            let bytes = Frame.bytes(
                key: key.count, extension: request.traits.bytes, value: request.value.count)
            return try makingRoom(for: bytes, refusal: error) { () throws(StorageError) in
                try putOnce(request, key: key, ifSequence: sequence, keepsTraits: keepsTraits)
            }
        }
    }

    private func putOnce(
        _ request: PutRequest, key: UnsafeRawBufferPointer, ifSequence sequence: UInt64?, keepsTraits: Bool
    ) throws(StorageError) -> ConditionalPut {
        try ArchiveEngine.validate(key: key)
        let tag = UInt32(truncatingIfNeeded: hash(key))
        try admit(request, key: key, tag: tag)
        return try acquire().put(
            request, key: key, tag: tag, ifSequence: sequence, keepsTraits: keepsTraits)
    }
}

extension ArchiveSection {
    fileprivate func put(
        _ request: PutRequest, key: UnsafeRawBufferPointer, tag: UInt32, ifSequence sequence: UInt64?,
        keepsTraits: Bool
    ) throws(StorageError) -> ConditionalPut {
        var request = request
        let present = try findToChange(key, tag: tag)
        defer { if let present { engine.letGo(present) } }
        guard sequence == present?.presentSequence else { return .changed }
        if keepsTraits, let present, sequence != nil {
            request.traits = present.frame.traits
            request.traits.deadline = present.slot.deadline
        }
        return .stored(sequence: try put(request, key: key, tag: tag).sequence)
    }
}

extension FoundEntry {
    /// The number of the operation that stored the value. What has expired, or is in a process' memory only, is none.
    var presentSequence: UInt64? { (standing ?? .valid) == .valid ? frame.sequence : nil }
}
