/// Which terms of an entry an update leaves as they are.
package struct KeptTerms: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let lifetime = KeptTerms(rawValue: 1)
    package static let memoryLifetime = KeptTerms(rawValue: 2)
    package static let owner = KeptTerms(rawValue: 4)
}

/// Updates that keep what an entry was stored with. The deadline is kept as it stands in the index, so it moves by
/// nothing however often an entry is updated.
extension Archive {
    /// As ``putToHold(_:forKey:encoding:attributes:keepsCreation:)`` for an update; `kept` of the terms are those of the
    /// entry that is there, the others those of `attributes`. Costs a look at that entry before. Another process that
    /// stores the entry between the look and the update has its terms replaced by those that were looked at.
    package func updateToHold(
        _ value: UnsafeRawBufferPointer, forKey key: HashedKey, encoding: ValueEncoding,
        attributes: EntryAttributes, keeping kept: KeptTerms
    ) throws(StorageError) -> HeldEntry {
        let engine = try engine()
        let held = try engine.withTraits(attributes, keeping: kept, of: key) {
            (traits) throws(StorageError) in
            let request = PutRequest(value: value, encoding: encoding, keepsCreation: true, traits: traits)
            return try engine.putMakingRoom(request, key: key.bytes, tag: key.tag)
        }
        try engine.settle()
        return held
    }

    /// The same for ``recordInMemoryOnly(_:bytes:attributes:)``.
    package func updateInMemoryOnly(
        _ key: HashedKey, bytes: UInt64, attributes: EntryAttributes, keeping kept: KeptTerms
    ) throws(StorageError) -> HeldEntry {
        let engine = try engine()
        let held = try engine.withTraits(attributes, keeping: kept, of: key) {
            (traits) throws(StorageError) in
            try engine.putInMemoryOnly(bytes: bytes, key: key.bytes, tag: key.tag, traits: traits)
        }
        try engine.settle()
        return held
    }
}

extension ArchiveEngine {
    fileprivate func withTraits<Value>(
        _ attributes: EntryAttributes, keeping kept: KeptTerms, of key: HashedKey,
        _ body: (EntryTraits) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        var attributes = attributes
        var deadline: Int64?
        var memoryInterval: Int64?
        if !kept.isEmpty {
            try withPresentLine(of: key.bytes, tag: key.tag) { entry, line in
                if kept.contains(.lifetime) { deadline = line.deadline }
                if kept.contains(.memoryLifetime) { memoryInterval = entry.frame.memoryInterval }
                if kept.contains(.owner) { attributes.owner = ownerName(in: entry.frame) }
            }
        }
        if attributes.lifetime != nil || deadline ?? Deadline.never != Deadline.never {
            try beginHousekeeping()
        }
        return try attributes.withTraits { (traits) throws(StorageError) in
            var traits = traits
            if let deadline { traits.deadline = deadline }
            if let memoryInterval { traits.memoryInterval = memoryInterval }
            return try body(traits)
        }
    }
}
