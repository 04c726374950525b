import StorageEngine

extension ArchiveManager {
    /// Changes the object with this key atomically: no change by another thread or process is lost or happens in
    /// between. Lifetimes and owner stay unless given, as in
    /// ``ArchiveManager/update(_:expiresIn:inMemory:owner:dropping:)``.
    ///
    /// No lock is held while `change` runs. If another change of the object is first, `change` is called again with the
    /// new object, so it must have no side effects. ``ArchiveStatistics/conflicts`` counts these retries.
    ///
    /// ```swift
    /// try users.modify(archiveWithKey: "ada") { $0.age += 1 }
    /// ```
    ///
    /// - Returns: the object as stored; `nil` if absent.
    /// - Throws: the errors of `change`, and then nothing is changed; ``ArchiveError/otherKey(wanted:computed:)`` if it
    ///   changed the primary key, and ``ArchiveError/changesItself(key:)`` if it changed the same object by another
    ///   call, too; ``ArchiveError/undecodable(type:key:underlying:)`` and
    ///   ``ArchiveError/newerVersion(type:key:found:known:)`` if the stored value can't be decoded; ``StorageError``,
    ///   among others `busy` after ten seconds of conflicting changes.
    @discardableResult
    public func modify(
        archiveWithKey key: String, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil,
        _ change: (inout Object) throws -> Void
    ) throws -> Object? {
        let terms = Terms.updated(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        return try handle.perform { try $0.modify(key, terms, change) }
    }

    /// As ``modify(archiveWithKey:expiresIn:inMemory:owner:_:)``, beginning with `initial` if the object is absent;
    /// then the archive's lifetime applies if none is given. As in ``access(archiveWithKey:)``, a value that can't be
    /// decoded counts as absent, and is replaced.
    @discardableResult
    public func modify(
        archiveWithKey key: String, default initial: @autoclosure () throws -> Object,
        expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil, owner: String? = nil,
        _ change: (inout Object) throws -> Void
    ) throws -> Object {
        let terms = Terms.updated(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        return try handle.perform { try $0.modify(key, default: initial, terms, change) }
    }

    /// Stores the object if the current one with its key equals `expected` (`nil`: absent). Otherwise does nothing and
    /// returns `false`. Lifetimes and owner stay unless given, as in
    /// ``ArchiveManager/update(_:expiresIn:inMemory:owner:dropping:)``.
    public func record(
        _ object: Object, replacing expected: Object?, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil
    ) throws -> Bool where Object: Equatable {
        let terms = Terms.updated(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        return try handle.perform { try $0.record(object, terms) { $0 == expected } }
    }
}
