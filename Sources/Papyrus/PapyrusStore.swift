import Foundation
import StorageEngine

/// A store of ``Papyrus`` objects, in one folder. Any number of processes may use it at once, and `vellum` shows what is in it.
/// Copies, and stores made with the same folder, are the same store. Safe from any thread.
///
/// ```swift
/// let store = PapyrusStore()
/// await store.save(car)
/// let cars = await store.objects(type: Car.self).execute()
/// ```
///
/// What is saved, deleted or merged by one call is there for everybody at once, or not at all: no query, in whatever process, finds
/// a part of it, whatever crashes. It survives the death of the program as soon as the call returns.
///
/// The calls here throw nothing, as on the page: what they can't do is logged (``logLevel``). Those of ``throwing`` throw it.
/// They run where their caller does, encode there, and have the rest done on another thread.
public struct PapyrusStore: Sendable {
    let core: StoreCore
    let journal = Journal()

    /// The store in a folder, which is made with the first object.
    public init(url: URL, logLevel: LogLevel = .error) { self.init(StoreCore.at(url), logLevel) }

    /// The store of the program: in `$VELLUM_STORE`, else in a folder with the program's name among the user's application data
    /// (`~/.local/share/PROGRAM/Papyrus`; on macOS in `~/Library/Application Support`).
    public init(logLevel: LogLevel = .error) { self.init(StoreCore.ofProgram, logLevel) }

    private init(_ core: StoreCore, _ logLevel: LogLevel) {
        self.core = core
        journal.level = logLevel
        core.report(to: journal)
    }

    /// What is logged: errors, unless it is set. Copies of a store share it. Messages go through swift-log, which writes them to
    /// the standard error unless the program says otherwise.
    public var logLevel: LogLevel {
        get { journal.level }
        nonmutating set { journal.level = newValue }
    }

    /// The same calls as ones that throw.
    public var throwing: ThrowingPapyrus { ThrowingPapyrus(core: core, journal: journal) }

    /// For tests: how many observe the store and wait.
    package var waitingObservers: Int { core.waitingObservers }

    private nonisolated(nonsending) func noting(
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

    /// Saves an object, and what it holds in relations, in the place of what is there.
    public nonisolated(nonsending) func save<Object: Papyrus>(_ object: Object) async {
        await noting("save an object of \(name(Object.self))") { try await throwing.save(object) }
    }

    /// Saves all of these objects or, if one can't be, none. Of several with one identifier the last counts. Together they may
    /// take 48 MB: more is logged and not saved, and ``ThrowingPapyrus/save(objects:)`` throws it.
    public nonisolated(nonsending) func save<Object: Papyrus>(objects: [Object]) async {
        await noting("save \(objects.count) objects of \(name(Object.self))") {
            try await throwing.save(objects: objects)
        }
    }

    // MARK: Fetching

    /// The object with this identifier, to be fetched or observed.
    public func object<Object: Papyrus, ID: CustomStringConvertible>(
        id: ID, of type: Object.Type
    ) -> ObjectQuery<Object> { ObjectQuery(core: core, journal: journal, id: id) }

    /// The same where the type is known from what is done with it.
    public func object<Object: Papyrus, ID: CustomStringConvertible>(id: ID) -> ObjectQuery<Object> {
        ObjectQuery(core: core, journal: journal, id: id)
    }

    /// All objects of a type, to be filtered, sorted, fetched or observed.
    public func objects<Object: Papyrus>(type: Object.Type) -> CollectionQuery<Object> {
        CollectionQuery(core: core, journal: journal)
    }

    // MARK: Deleting

    /// Deletes an object. What it holds in relations stays.
    public nonisolated(nonsending) func delete<Object: Papyrus>(_ object: Object) async {
        await noting("delete an object of \(name(Object.self))") { try await throwing.delete(object) }
    }

    /// Deletes the object with this identifier.
    public nonisolated(nonsending) func delete<Object: Papyrus, ID: CustomStringConvertible>(
        id: ID, of type: Object.Type
    ) async {
        await noting("delete an object of \(name(type))") { try await throwing.delete(id: id, of: type) }
    }

    /// Deletes all of these objects.
    public nonisolated(nonsending) func delete<Object: Papyrus>(objects: [Object]) async {
        await noting("delete objects of \(name(Object.self))") { try await throwing.delete(objects: objects) }
    }

    /// Deletes the object that a query is of.
    public nonisolated(nonsending) func delete<Object: Papyrus>(_ query: ObjectQuery<Object>) async {
        await noting("delete \(query.key)") { try await throwing.delete(query) }
    }

    /// Deletes the objects that these queries are of.
    public nonisolated(nonsending) func delete<Object: Papyrus>(objects queries: [ObjectQuery<Object>]) async
    {
        await noting("delete objects of \(name(Object.self))") { try await throwing.delete(objects: queries) }
    }

    /// Deletes all objects of a type: up to some hundred thousand at once, more in parts.
    public nonisolated(nonsending) func deleteAll<Object: Papyrus>(_ type: Object.Type) async throws {
        try await throwing.deleteAll(type)
    }

    /// Deletes everything in the store, in one step. Waits for who is changing the store, some microseconds.
    public func reset() {
        do {
            try throwing.reset()
        } catch {
            journal.error("reset the store", error)
        }
    }

    // MARK: Merging

    /// Saves the objects, and deletes all others of their type: the collection is theirs from one moment to the next. Objects that
    /// were there already keep their places in it. They and those that go may take 48 MB together: more is logged and not merged, and
    /// ``ThrowingPapyrus/merge(with:)`` throws it.
    ///
    /// Of two merges one comes after the other. What is saved otherwise while a merge is under way counts as saved after it.
    public nonisolated(nonsending) func merge<Object: Papyrus>(with objects: [Object]) async {
        await noting("merge \(objects.count) objects of \(name(Object.self))") {
            try await throwing.merge(with: objects)
        }
    }

    /// As ``merge(with:)``, but of the others only those are deleted that pass the filter, which is called on another thread, and
    /// perhaps again for an object.
    public nonisolated(nonsending) func merge<Object: Papyrus>(
        objects: [Object], into filter: @escaping @Sendable (_ object: Object) -> Bool
    ) async {
        await noting("merge \(objects.count) objects of \(name(Object.self))") {
            try await throwing.merge(objects: objects, into: filter)
        }
    }

    // MARK: Migrations

    /// Makes the objects of a former type that are in the store into ones of the present type, before it returns. They keep their
    /// places. Killed and registered again, it goes on where it was. What can't be read as an object of the former type stays.
    ///
    /// Where an object of the present type was saved since, under the same identifier, the newer one counts. Migrations form
    /// chains, in whatever order they are registered: what one makes goes on through those that begin with that.
    public nonisolated(nonsending) func register<FromObject: Papyrus, ToObject: Papyrus>(
        migration: Migration<FromObject, ToObject>
    ) async {
        await noting("migrate \(name(FromObject.self)) to \(name(ToObject.self))") {
            try await throwing.register(migration: migration)
        }
    }
}
