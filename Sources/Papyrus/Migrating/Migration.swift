import StorageEngine

/// Converts objects of a former type into objects of the present one: ``PapyrusStore/register(migration:)``.
public struct Migration<FromObject: Papyrus, ToObject: Papyrus>: Sendable {
    /// Converts an old object into a new one. Called from any thread, and again for an object changed during the call.
    public typealias OnMigrate = @Sendable (_ from: FromObject) -> ToObject

    let onMigrate: OnMigrate

    /// Creates a migration, to be registered with a store.
    public init(_ onMigrate: @escaping OnMigrate) { self.onMigrate = onMigrate }
}

/// A migration without its types.
struct RegisteredMigration: Sendable {
    var from: String
    var to: String
    var run: @Sendable (StoreCore) throws -> MigrationOutcome

    func isSame(as other: Self) -> Bool { from == other.from && to == other.to }
}

struct MigrationOutcome: Sendable {
    var hasChanged = false
    /// The names of the types of objects that this migration stored because other objects are related to them.
    var mentioned: Set<String> = []
    /// The report of old objects that were not converted.
    var problem: PapyrusQueryError?
}

extension Migration {
    var registered: RegisteredMigration {
        let from = StoredType.of(FromObject.self)
        let to = StoredType.of(ToObject.self)
        return RegisteredMigration(from: from.name, to: to.name) { core in
            let earlier = core.namesConverted(into: from.name).map { StoredType(name: $0).prefix }
            return try core.withArchive(creates: false) { archive in
                let entries = SnapshotEntries(snapshot: try archive.snapshot())
                var run = MigrationRun(
                    migration: self, from: from, to: to, earlier: earlier, entries: entries)
                return try run.convertAll(in: archive)
            } ?? MigrationOutcome()
        }
    }
}

extension StoreCore {
    /// The migrations of a store. They outlive the store object, which may be recreated between two registrations.
    private struct Migrations {
        var known: [RegisteredMigration] = []
        /// The migrations that left objects unconverted.
        var unfinished: [RegisteredMigration] = []
    }

    private static let migrations = Guarded<[String: Migrations]>([:])

    private static let longestChain = 32

    /// The names of the types that registered migrations convert into another.
    func namesConverted(into name: String) -> [String] {
        let known = StoreCore.migrations.withLock { $0[path]?.known ?? [] }
        return known.filter { $0.to == name }.map(\.from)
    }

    /// Registers and runs a migration, the migrations of its results, and unfinished ones. Throws `oneTypeName`, or the first
    /// problem.
    func migrate(_ new: RegisteredMigration) throws {
        guard new.from != new.to else { throw MigrationError.oneTypeName(new.from) }
        StoreCore.migrations.withLock { all in
            var migrations = all[path] ?? Migrations()
            migrations.known.removeAll(where: new.isSame)
            migrations.unfinished.removeAll(where: new.isSame)
            migrations.known.append(new)
            all[path] = migrations
        }
        let earlier = StoreCore.migrations.withLock { $0[path]?.unfinished ?? [] }
        var failure: (any Error)?
        var hasChanged = run(new, behind: []) { failure = failure ?? $0 }
        // Each migration may have created objects for the one before it. Their errors were thrown when they were registered.
        for _ in earlier where hasChanged {
            hasChanged = false
            for migration in earlier { hasChanged = run(migration, behind: []) { _ in } || hasChanged }
        }
        if let failure { throw failure }
    }

    /// Runs a migration, those of related objects that it stored, and its successors. Returns whether anything was converted.
    private func run(
        _ migration: RegisteredMigration, behind earlier: [RegisteredMigration],
        _ failed: (any Error) -> Void
    ) -> Bool {
        guard earlier.count < StoreCore.longestChain else { return false }
        var outcome = MigrationOutcome()
        var problem: (any Error)?
        do {
            outcome = try migration.run(self)
            problem = outcome.problem
        } catch {
            problem = error
        }
        let known = StoreCore.migrations.withLock { all in
            all[path]?.unfinished.removeAll(where: migration.isSame)
            if problem != nil { all[path]?.unfinished.append(migration) }
            return all[path]?.known ?? []
        }
        if let problem { failed(problem) }
        let way = earlier + [migration]
        func isOnTheWay(_ other: RegisteredMigration) -> Bool { way.contains { $0.from == other.from } }
        var hasChanged = outcome.hasChanged
        for next in known where outcome.mentioned.contains(next.from) && !isOnTheWay(next) {
            hasChanged = run(next, behind: way, failed) || hasChanged
        }
        if let next = known.first(where: { $0.from == migration.to && !isOnTheWay($0) }) {
            hasChanged = run(next, behind: way, failed) || hasChanged
        }
        return hasChanged
    }
}
