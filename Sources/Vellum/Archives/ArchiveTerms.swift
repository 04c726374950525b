import StorageEngine

/// What an object can be stored with besides itself.
public enum ArchiveTerm: Sendable, Hashable, CaseIterable {
    /// After this the object is found no more.
    case lifetime
    /// After this the object leaves the memory of a process, and is read from disk when it is accessed again.
    case memoryLifetime
    /// What objects that belong together are deleted by.
    case owner
}

/// On which terms an object is stored.
struct Terms: Sendable {
    var lifetime: Duration?
    var memoryLifetime: Duration?
    var owner: String?
    /// What is left as it is where nothing is said here, by an update.
    var kept: KeptTerms = []
    var isUpdate = false

    /// Those of a `record`: what isn't said isn't there.
    static func new(
        lifetime: Duration? = nil, memoryLifetime: Duration? = nil, owner: String? = nil
    ) -> Terms {
        Terms(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
    }

    /// Those of an `update`: what isn't said stays, unless it is dropped.
    static func updated(
        lifetime: Duration? = nil, memoryLifetime: Duration? = nil, owner: String? = nil,
        dropping: Set<ArchiveTerm> = []
    ) -> Terms {
        var kept: KeptTerms = []
        if lifetime == nil, !dropping.contains(.lifetime) { kept.insert(.lifetime) }
        if memoryLifetime == nil, !dropping.contains(.memoryLifetime) { kept.insert(.memoryLifetime) }
        if owner == nil, !dropping.contains(.owner) { kept.insert(.owner) }
        return Terms(
            lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner, kept: kept, isUpdate: true)
    }

    /// These, with what the archive says where nothing else is said.
    func completed(_ standard: Duration?) -> Terms {
        guard let standard, lifetime == nil, !isUpdate || kept.contains(.lifetime) else { return self }
        var terms = self
        // Of an update it counts if there is nothing to keep.
        terms.lifetime = standard
        return terms
    }

    var attributes: EntryAttributes {
        EntryAttributes(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
    }
}
