extension Archive {
    /// Like ``putAndHold(_:forKey:encoding:attributes:keepsCreation:)`` if the entry's sequence is `sequence` (`nil`: absent);
    /// otherwise returns `nil`. Keeps the options in `kept`; copies the expiry time from the index, so it never shifts. Without
    /// `value` it is ``recordInMemoryOnly(_:bytes:attributes:)``.
    package func updateToHold(
        _ value: UnsafeRawBufferPointer?, bytes: Int, forKey key: HashedKey, encoding: ValueEncoding,
        attributes: EntryAttributes, keeping kept: KeptTerms, ifSequence sequence: UInt64?
    ) throws(StorageError) -> HeldEntry? {
        let engine = try engine()
        let held = try withTraits(attributes, keeping: kept, of: key, in: engine) {
            (traits) throws(StorageError) in
            let request =
                if let value {
                    PutRequest(value: value, encoding: encoding, keepsCreation: true, traits: traits)
                } else {
                    try engine.requestInMemoryOnly(bytes: UInt64(bytes), traits)
                }
            return try engine.put(
                request, key: key.bytes, ifSequence: sequence, keepsTraits: false, seesMemory: true)
        }
        try engine.finishChange()
        return held
    }

    private func withTraits<Value>(
        _ attributes: EntryAttributes, keeping kept: KeptTerms, of key: HashedKey, in engine: ArchiveEngine,
        _ body: (EntryTraits) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        var attributes = attributes
        var deadline: Int64?
        var memoryInterval: Int64?
        if !kept.isEmpty {
            try engine.withPresentLine(of: key.bytes, tag: key.tag) { entry, line in
                if kept.contains(.lifetime) { deadline = line.deadline }
                if kept.contains(.memoryLifetime) { memoryInterval = entry.frame.memoryInterval }
                if kept.contains(.owner) { attributes.owner = entry.frame.ownerName }
            }
        }
        if attributes.lifetime != nil || deadline ?? Deadline.never != Deadline.never {
            try engine.startMaintenance()
        }
        return try attributes.withTraits { (traits) throws(StorageError) in
            var traits = traits
            if let deadline { traits.deadline = deadline }
            if let memoryInterval { traits.memoryInterval = memoryInterval }
            return try body(traits)
        }
    }
}
