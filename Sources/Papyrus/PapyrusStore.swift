import Foundation

/// A store of ``Papyrus`` objects in a folder. Any number of processes may use it at once, and `vellum` shows its
/// content. Copies, and stores of the same folder, are the same store.
///
/// ```swift
/// let store = PapyrusStore()
/// await store.save(car)
/// let cars = await store.objects(type: Car.self).execute()
/// ```
///
/// Each save, delete or merge is atomic: no query in any process finds a part of it, even after a crash. When the call returns, the
/// change survives a crash of the program.
///
/// These calls don't throw: failures are logged (``logLevel``). The calls of ``throwing`` throw them. All of them run
/// and encode on their caller's actor, and do the rest on another thread.
public struct PapyrusStore: Sendable {
    /// Why a query returned no object.
    public typealias QueryError = PapyrusQueryError

    let core: StoreCore
    let journal = Journal()

    /// The store in a folder, which is created with the first object.
    public init(url: URL, logLevel: LogLevel = .error) { self.init(StoreCore.at(url), logLevel) }

    /// The program's store: in `$VELLUM_STORE`, otherwise in a folder with the program's name in the user's application
    /// data (`~/.local/share/PROGRAM/Papyrus`; on macOS in `~/Library/Application Support`).
    public init(logLevel: LogLevel = .error) { self.init(StoreCore.ofProgram, logLevel) }

    private init(_ core: StoreCore, _ logLevel: LogLevel) {
        self.core = core
        journal.logLevel = logLevel
        core.report(to: journal)
    }

    /// The logged messages; errors by default. Copies of a store share it. Messages are written to swift-log, which
    /// sends them to standard error unless configured otherwise.
    public var logLevel: LogLevel {
        get { journal.logLevel }
        nonmutating set { journal.logLevel = newValue }
    }

    /// The same calls, which throw.
    public var throwing: ThrowingPapyrus { ThrowingPapyrus(core: core, journal: journal) }

    /// For tests: the number of observers that wait for a change.
    package var waitingObservers: Int { core.waitingObservers }

    private nonisolated(nonsending) func logging(
        _ operation: @autoclosure () -> String, _ body: nonisolated(nonsending) () async throws -> Void
    ) async {
        do {
            try await body()
        } catch {
            journal.error(operation(), error)
        }
    }

    private func name<Object: Papyrus>(_ type: Object.Type) -> String { StoredType.of(type).name }

    // MARK: Saving

    /// Saves an object and its related objects, and replaces those that exist.
    public nonisolated(nonsending) func save<Object: Papyrus>(_ object: Object) async {
        await logging("save an object of \(name(Object.self))") { try await throwing.save(object) }
    }

    /// Saves all of these objects, or none if one can't be saved. If several have the same identifier, the last counts.
    /// They may take 48 MB together; beyond that, none is saved, which is logged. ``ThrowingPapyrus/save(objects:)``
    /// throws instead.
    public nonisolated(nonsending) func save<Object: Papyrus>(objects: [Object]) async {
        await logging("save \(objects.count) objects of \(name(Object.self))") {
            try await throwing.save(objects: objects)
        }
    }

    // MARK: Fetching

    /// The object with this identifier, to be fetched or observed.
    public func object<Object: Papyrus, ID: CustomStringConvertible>(
        id: ID, of type: Object.Type
    ) -> ObjectQuery<Object> { ObjectQuery(core: core, journal: journal, id: id) }

    /// As ``object(id:of:)``, with the type inferred from the context.
    public func object<Object: Papyrus, ID: CustomStringConvertible>(id: ID) -> ObjectQuery<Object> {
        ObjectQuery(core: core, journal: journal, id: id)
    }

    /// All objects of a type, to be filtered, sorted, fetched or observed.
    public func objects<Object: Papyrus>(type: Object.Type) -> CollectionQuery<Object> {
        CollectionQuery(core: core, journal: journal)
    }

    // MARK: Deleting

    /// Deletes an object. Its related objects stay.
    public nonisolated(nonsending) func delete<Object: Papyrus>(_ object: Object) async {
        await logging("delete an object of \(name(Object.self))") { try await throwing.delete(object) }
    }

    /// Deletes the object with this identifier.
    public nonisolated(nonsending) func delete<Object: Papyrus, ID: CustomStringConvertible>(
        id: ID, of type: Object.Type
    ) async {
        await logging("delete an object of \(name(type))") { try await throwing.delete(id: id, of: type) }
    }

    /// Deletes all of these objects.
    public nonisolated(nonsending) func delete<Object: Papyrus>(objects: [Object]) async {
        await logging("delete objects of \(name(Object.self))") {
            try await throwing.delete(objects: objects)
        }
    }

    /// Deletes the object of a query.
    public nonisolated(nonsending) func delete<Object: Papyrus>(_ query: ObjectQuery<Object>) async {
        await logging("delete \(query.key)") { try await throwing.delete(query) }
    }

    /// Deletes the objects of these queries.
    public nonisolated(nonsending) func delete<Object: Papyrus>(objects queries: [ObjectQuery<Object>]) async
    {
        await logging("delete objects of \(name(Object.self))") {
            try await throwing.delete(objects: queries)
        }
    }

    /// Deletes all objects of a type: up to some hundred thousand at once, more in parts.
    public nonisolated(nonsending) func deleteAll<Object: Papyrus>(_ type: Object.Type) async throws {
        try await throwing.deleteAll(type)
    }

    /// Deletes everything in the store atomically. Waits for changes that are under way.
    public func reset() {
        do {
            try throwing.reset()
        } catch {
            journal.error("reset the store", error)
        }
    }

    // MARK: Merging

    /// Saves the objects and deletes all others of their type, atomically. Existing objects keep their positions in the collection.
    /// The saved and deleted objects may take 48 MB together; beyond that, nothing changes, which is logged.
    /// ``ThrowingPapyrus/merge(with:)`` throws instead.
    ///
    /// Concurrent merges run one after the other. Other saves during a merge count as made after it.
    public nonisolated(nonsending) func merge<Object: Papyrus>(with objects: [Object]) async {
        await logging("merge \(objects.count) objects of \(name(Object.self))") {
            try await throwing.merge(with: objects)
        }
    }

    /// As ``merge(with:)``, but deletes only those other objects that pass the filter. The filter is called on another
    /// thread, and possibly more than once for an object.
    public nonisolated(nonsending) func merge<Object: Papyrus>(
        objects: [Object], into filter: @escaping @Sendable (_ object: Object) -> Bool
    ) async {
        await logging("merge \(objects.count) objects of \(name(Object.self))") {
            try await throwing.merge(objects: objects, into: filter)
        }
    }

    // MARK: Migrations

    /// Converts all stored objects of a former type into objects of the present type before it returns. They keep their positions.
    /// If the process is killed, registering again continues. Values that can't be decoded as the former type stay.
    ///
    /// The types must have different ``Papyrus/papyrusTypeName``s; the former one's is that of the stored objects. If an object
    /// of the present type with the same identifier was saved later, that one is kept. Migrations form chains in any order of
    /// registration: the results of one are converted by the migrations from their type.
    public nonisolated(nonsending) func register<FromObject: Papyrus, ToObject: Papyrus>(
        migration: Migration<FromObject, ToObject>
    ) async {
        await logging("migrate \(name(FromObject.self)) to \(name(ToObject.self))") {
            try await throwing.register(migration: migration)
        }
    }
}
