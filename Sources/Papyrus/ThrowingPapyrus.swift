/// Throwing versions of the calls of a ``PapyrusStore``: `try await store.throwing.save(car)`. Each does the same as the call of
/// that name there; if it throws, it has changed nothing.
///
/// They throw `StorageError` (`noSpace`, `batchTooLarge`, `busy` and other errors of the store),
/// ``PapyrusStore/QueryError`` if stored values must be read, and errors of an object's coding.
public struct ThrowingPapyrus: Sendable {
    let core: StoreCore
    let journal: Journal

    /// As ``PapyrusStore/save(_:)``.
    public nonisolated(nonsending) func save<Object: Papyrus>(_ object: Object) async throws {
        try await save(objects: [object])
    }

    /// As ``PapyrusStore/save(objects:)``.
    public nonisolated(nonsending) func save<Object: Papyrus>(objects: [Object]) async throws {
        let written = try ObjectWriter.entries(of: objects)
        try await core.blocking { try $0.save(written) }
        journal.info("saved \(written.count) objects")
    }

    /// As ``PapyrusStore/CollectionQuery/execute()``, but throws `invalidSchema` if a value can't be decoded.
    @discardableResult
    public nonisolated(nonsending) func execute<Object: Papyrus>(
        _ query: PapyrusStore.CollectionQuery<Object>
    ) async throws -> [Object] { try await query.results(leavingOut: false) }

    /// As `PapyrusStore.delete(_:)`.
    public nonisolated(nonsending) func delete<Object: Papyrus>(_ object: Object) async throws {
        try await delete(id: object.id, of: Object.self)
    }

    /// As ``PapyrusStore/delete(id:of:)``.
    public nonisolated(nonsending) func delete<Object: Papyrus, ID: CustomStringConvertible>(
        id: ID, of type: Object.Type
    ) async throws { try await delete([StoredType.of(type).key(of: id)]) }

    /// As `PapyrusStore.delete(objects:)`.
    public nonisolated(nonsending) func delete<Object: Papyrus>(objects: [Object]) async throws {
        let type = StoredType.of(Object.self)
        try await delete(objects.map { type.key(of: $0.id) })
    }

    /// As `PapyrusStore.delete(_:)`.
    public nonisolated(nonsending) func delete<Object: Papyrus>(
        _ query: PapyrusStore.ObjectQuery<Object>
    ) async throws { try await delete([query.key]) }

    /// As `PapyrusStore.delete(objects:)`.
    public nonisolated(nonsending) func delete<Object: Papyrus>(
        objects queries: [PapyrusStore.ObjectQuery<Object>]
    ) async throws { try await delete(queries.map(\.key)) }

    private nonisolated(nonsending) func delete(_ keys: [String]) async throws {
        try await core.blocking { try $0.delete(keys) }
        journal.info("deleted \(keys.count) objects")
    }

    /// As ``PapyrusStore/deleteAll(_:)``.
    public nonisolated(nonsending) func deleteAll<Object: Papyrus>(_ type: Object.Type) async throws {
        try await core.blocking { [journal] in try $0.deleteAll(of: type, journal: journal) }
        journal.info("deleted all objects of \(StoredType.of(type).name)")
    }

    /// As ``PapyrusStore/reset()``.
    public func reset() throws {
        try core.reset()
        journal.info("reset the store")
    }

    /// As ``PapyrusStore/merge(with:)``.
    public nonisolated(nonsending) func merge<Object: Papyrus>(with objects: [Object]) async throws {
        try await merge(objects, nil)
    }

    /// As ``PapyrusStore/merge(objects:into:)``.
    public nonisolated(nonsending) func merge<Object: Papyrus>(
        objects: [Object], into filter: @escaping @Sendable (_ object: Object) -> Bool
    ) async throws { try await merge(objects, filter) }

    private nonisolated(nonsending) func merge<Object: Papyrus>(
        _ objects: [Object], _ filter: (@Sendable (Object) -> Bool)?
    ) async throws {
        let written = try ObjectWriter.entries(of: objects)
        try await core.blocking { [journal] in
            try $0.merge(written, type: Object.self, journal: journal, into: filter)
        }
        journal.info("merged \(written.count) objects")
    }

    /// As ``PapyrusStore/register(migration:)``. Throws also ``MigrationError``, and `invalidSchema` at the end, about
    /// values that could not be converted and stay.
    public nonisolated(nonsending) func register<FromObject: Papyrus, ToObject: Papyrus>(
        migration: Migration<FromObject, ToObject>
    ) async throws {
        let registered = migration.registered
        try await core.blocking { try $0.migrate(registered) }
        journal.info("migrated \(registered.from) to \(registered.to)")
    }
}
