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

    /// The terms of a `record`: those that are `nil` are absent.
    static func new(
        lifetime: Duration? = nil, memoryLifetime: Duration? = nil, owner: String? = nil
    ) -> Terms {
        Terms(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
    }

    /// The terms of an `update`: those that are `nil` stay, unless they are dropped.
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

    /// These terms, with the archive's standard lifetime if there is no other.
    func completed(_ standard: Duration?) -> Terms {
        guard let standard, lifetime == nil, !isUpdate || kept.contains(.lifetime) else { return self }
        var terms = self
        // For an update it applies if there is no entry whose lifetime could be kept.
        terms.lifetime = standard
        return terms
    }

    /// Whether a use of the object may renew its lifetime; not where these terms name another.
    var keepsLifetime: Bool { isUpdate && kept.contains(.lifetime) }

    var attributes: EntryAttributes {
        EntryAttributes(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
    }
}
