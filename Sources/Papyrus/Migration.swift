import StorageEngine

/// Converts objects of a former type into objects of the present one: ``PapyrusStore/register(migration:)``.
public struct Migration<FromObject: Papyrus, ToObject: Papyrus>: Sendable {
    /// Converts an old object into a new one. Called from any thread, and again for an object that was changed in
    /// the meantime.
    public typealias OnMigrate = @Sendable (_ from: FromObject) -> ToObject

    let onMigrate: OnMigrate

    /// Creates a migration, to be registered with a store.
    public init(_ onMigrate: @escaping OnMigrate) { self.onMigrate = onMigrate }
}

/// A migration without its types.
struct RegisteredMigration: Sendable {
    /// The names of the types.
    var from: String
    var to: String
    var run: @Sendable (StoreCore) throws -> Void
}

extension Migration {
    var registered: RegisteredMigration {
        let from = StoredType.of(FromObject.self)
        let to = StoredType.of(ToObject.self)
        return RegisteredMigration(from: from.name, to: to.name) { core in
            _ = try core.withArchive(creates: false) { try run(in: $0, from, to) }
        }
    }

    /// Deletes each old object in the batch that stores its new one, so a migration that is killed and started again
    /// finds each object once. An object stays as it is if it can't be decoded as the old type, its new object can't
    /// be encoded, an existing object under the new key is damaged, or another object has its new identifier: one that has it
    /// already, or an old one that keeps it, whichever of the two comes first.
    private func run(in archive: Archive, _ from: StoredType, _ to: StoredType) throws {
        var entries = SnapshotEntries(snapshot: try archive.snapshot())
        var misread = Misread()
        var waiting = try entries.keys(of: from, &misread)[...]
        var count = Migration.objectsAtOnce
        var taken: Set<String> = []
        while !waiting.isEmpty {
            let part = waiting.prefix(count)
            let changes = try changes(of: part, from, to, entries, taken, &misread)
            do {
                if try changes.batch.isEmpty || archive.apply(changes.batch, ifUnchanged: changes.seen) != nil
                {
                    waiting = waiting.dropFirst(part.count)
                    taken.formUnion(changes.taken)
                } else {
                    // Some of them were changed in the meantime.
                    entries = SnapshotEntries(snapshot: try archive.snapshot())
                }
            } catch let error as StorageError {
                guard case .batchTooLarge = error, part.count > 1 else { throw error }
                count = part.count / 2
            }
        }
        guard let problem = misread.problem("can't be converted into \(to.name), and stays") else { return }
        throw PapyrusStore.QueryError.invalidSchema(details: problem)
    }

    /// Few enough to fit into a batch, and to hold the archive's lock only briefly.
    private static var objectsAtOnce: Int { 500 }

    /// The changes, the versions that they depend on, and the keys that they give to new objects.
    private typealias Changes = (batch: Batch, seen: [SeenEntry], taken: Set<String>)

    private func changes(
        of keys: ArraySlice<String>, _ from: StoredType, _ to: StoredType, _ entries: SnapshotEntries,
        _ taken: Set<String>, _ misread: inout Misread
    ) throws -> Changes {
        let loader = ObjectLoader(entries)
        return try loader.use {
            var changes: Changes = (Batch(), [], [])
            for key in keys {
                let entry: StoredEntry
                // Each new object, with the existing entry under its key.
                let new: [(object: WrittenObject, present: StoredEntry?)]
                do {
                    guard let found = try entries.find(key) else { continue }
                    if from == to, (try? loader.object(ToObject.self, of: found)) != nil { continue }
                    new = try ObjectWriter.entries(
                        of: [onMigrate(try loader.object(FromObject.self, of: found))]
                    ).map { ($0, $0.key == key ? nil : try entries.find($0.key)) }
                    entry = found
                } catch {
                    let error = ObjectLoader.orDamaged(error)
                    guard !(error is StorageError) else { throw error }
                    misread.add(key, error)
                    continue
                }
                if let given = new.first(where: \.object.isGiven) {
                    let isKept =
                        given.object.key.dropFirst(to.prefix.count) == key.dropFirst(from.prefix.count)
                    let isTaken = taken.contains(given.object.key) || changes.taken.contains(given.object.key)
                    if try isTaken
                        || !isKept
                            && (given.present != nil
                                || isKeptByOther(given.object.key, from, to, entries, loader))
                    {
                        let reason = "another object has its new identifier: \(given.object.key)"
                        misread.add(key, StoredProblem(description: reason))
                        continue
                    }
                    changes.taken.insert(given.object.key)
                }
                // Only after all of it succeeded: an old object must not be deleted unless its new one is stored.
                Migration.add(new, of: entry, isRenamed: from != to, in: &changes)
            }
            return changes
        }
    }

    /// Whether an old object has this new key's identifier and keeps it, or can't be read, so that it may. Otherwise it
    /// would depend on the order which of two is converted, and a later run would take the other for an earlier version of it.
    private func isKeptByOther(
        _ key: String, _ from: StoredType, _ to: StoredType, _ entries: SnapshotEntries,
        _ loader: ObjectLoader
    ) throws -> Bool {
        let former = from.prefix + key.dropFirst(to.prefix.count)
        guard from != to, let holder = try entries.find(former) else { return false }
        do {
            let new = try ObjectWriter.entries(of: [onMigrate(try loader.object(FromObject.self, of: holder))]
            )
            return new.contains { $0.isGiven && $0.key == key }
        } catch {
            let error = ObjectLoader.orDamaged(error)
            guard !(error is StorageError) else { throw error }
            return true
        }
    }

    private static func add(
        _ new: [(object: WrittenObject, present: StoredEntry?)], of entry: StoredEntry, isRenamed: Bool,
        in changes: inout Changes
    ) {
        changes.seen.append(SeenEntry(key: entry.key, sequence: entry.sequence))
        if isRenamed { changes.batch.delete(entry.key) }
        for (written, present) in new {
            var object = written
            if object.key != entry.key {
                changes.seen.append(SeenEntry(key: object.key, sequence: present?.sequence))
            }
            if object.isGiven {
                object.created = entry.created
                // An object that was saved later with the new type isn't replaced by an older one.
                if let present, present.sequence > entry.sequence { continue }
            } else if present != nil {
                // A related object that is stored already stays.
                continue
            }
            changes.batch.put(object)
        }
    }
}
