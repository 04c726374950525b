extension ArchiveManager {
    /// Changes the object with this key atomically: no change by another thread or process is lost or happens in
    /// between. Options stay unless given, as in ``update(_:options:)``.
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
        archiveWithKey key: String, options: EntryOptions = EntryOptions(),
        _ change: (inout Object) throws -> Void
    ) throws -> Object? {
        try handle.perform { try $0.modify(key, .updated(options), change) }
    }

    /// As ``modify(archiveWithKey:options:_:)``, beginning with `initial` if the object is absent;
    /// then the archive's lifetime applies if none is given. As in ``access(archiveWithKey:)``, a value that can't be
    /// decoded counts as absent, and is replaced.
    @discardableResult
    public func modify(
        archiveWithKey key: String, default initial: @autoclosure () throws -> Object,
        options: EntryOptions = EntryOptions(), _ change: (inout Object) throws -> Void
    ) throws -> Object {
        try handle.perform { try $0.modify(key, default: initial, .updated(options), change) }
    }

    /// Stores the object if the current one with its key equals `expected` (`nil`: absent). Otherwise does nothing and
    /// returns `false`. Options stay unless given, as in ``update(_:options:)``.
    public func record(
        _ object: Object, replacing expected: Object?, options: EntryOptions = EntryOptions()
    ) throws -> Bool where Object: Equatable {
        try handle.perform { try $0.record(object, .updated(options)) { $0 == expected } }
    }
}
