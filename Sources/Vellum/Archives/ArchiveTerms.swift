import StorageEngine

/// Terms on which an object can be stored.
public enum ArchiveTerm: Sendable, Hashable, CaseIterable {
    /// The time after which the object expires.
    case lifetime
    /// The time after which a process drops the object from memory; the next access reads it from disk.
    case memoryLifetime
    /// The name by which objects that belong together can be deleted.
    case owner
}

struct Terms: Sendable {
    var lifetime: Duration?
    var memoryLifetime: Duration?
    var owner: String?
    /// The terms that an update keeps. (`[]` would call a generic initialiser, in every `record`.)
    var kept = KeptTerms(rawValue: 0)
    var isUpdate = false

    static func new(
        lifetime: Duration? = nil, memoryLifetime: Duration? = nil, owner: String? = nil
    ) -> Terms {
        Terms(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
    }

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

    /// These terms, with the archive's standard lifetime if they have none.
    func completed(_ standard: Duration?) -> Terms {
        guard let standard, lifetime == nil, !isUpdate || kept.contains(.lifetime) else { return self }
        var terms = self
        // For an update it applies if no entry exists whose lifetime could be kept.
        terms.lifetime = standard
        return terms
    }

    var keepsLifetime: Bool { isUpdate && kept.contains(.lifetime) }

    var attributes: EntryAttributes {
        EntryAttributes(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
    }
}
