import StorageEngine

/// How objects of a former type become objects of the present one: ``PapyrusStore/register(migration:)``.
public struct Migration<FromObject: Papyrus, ToObject: Papyrus>: Sendable {
    /// Makes a new object of an old one. It may be called again for one that was changed meanwhile, and from any thread.
    public typealias OnMigrate = @Sendable (_ from: FromObject) -> ToObject

    let onMigrate: OnMigrate

    public init(_ onMigrate: @escaping OnMigrate) { self.onMigrate = onMigrate }
}

/// A migration without its types.
struct RegisteredMigration: Sendable {
    /// Names of the types.
    var from: String
    var to: String
    var run: @Sendable (StoreCore) throws -> Void
}

extension Migration {
    var registered: RegisteredMigration {
        let from = StoredType.of(FromObject.self)
        let to = StoredType.of(ToObject.self)
        return RegisteredMigration(from: from.name, to: to.name) { core in
            _ = try core.withArchive(makes: false) { try run(in: $0, from, to) }
        }
    }

    /// Each old object goes in the batch in which its new one comes, so that whoever is killed meanwhile, and begins again, finds
    /// each once. What can't be read as an old object stays where it is.
    private func run(in archive: Archive, _ from: StoredType, _ to: StoredType) throws {
        let first = SnapshotEntries(snapshot: try archive.snapshot())
        var waiting = try first.numbers(of: from).map { try first.snapshot.key(at: $0) }[...]
        var misread: [String: any Error] = [:]
        while !waiting.isEmpty {
            let part = waiting.prefix(Migration.objectsAtOnce)
            // Others may change them meanwhile; then this part is looked at again.
            let entries = SnapshotEntries(snapshot: try archive.snapshot())
            let loader = ObjectLoader(entries)
            var batch = Batch()
            var seen: [SeenEntry] = []
            try loader.use {
                for key in part {
                    guard let entry = try entries.find(key) else { continue }
                    if from == to, isMigrated(entry, loader) { continue }
                    do {
                        let old = try loader.object(FromObject.self, of: entry)
                        try note(onMigrate(old), of: entry, from, to, entries, in: &batch, &seen)
                    } catch let error as StorageError {
                        throw error
                    } catch {
                        misread[key] = error
                    }
                }
            }
            let results = batch.isEmpty ? [] : try archive.apply(batch, ifUnchanged: seen)
            if results != nil { waiting = waiting.dropFirst(part.count) }
        }
        guard let first = misread.min(by: { $0.key < $1.key }) else { return }
        throw PapyrusStore.QueryError.invalidSchema(
            details: StoredProblem(
                description:
                    "\(misread.count) objects of \(from.name) can't be read as such and stay, among them "
                    + "\(first.key): \(first.value)"))
    }

    /// Few enough that a batch holds them, and that nobody waits for long.
    private static var objectsAtOnce: Int { 500 }

    private func isMigrated(_ entry: StoredEntry, _ loader: ObjectLoader) -> Bool {
        (try? loader.object(ToObject.self, of: entry)) != nil
    }

    private func note(
        _ new: ToObject, of entry: StoredEntry, _ from: StoredType, _ to: StoredType,
        _ entries: SnapshotEntries, in batch: inout Batch, _ seen: inout [SeenEntry]
    ) throws {
        seen.append(SeenEntry(key: entry.key, sequence: entry.sequence))
        if from != to { batch.delete(entry.key) }
        for var object in try ObjectWriter.entries(of: [new]) {
            if object.isGiven {
                object.created = entry.created
                let present = object.key == entry.key ? nil : try entries.find(object.key)
                if object.key != entry.key {
                    seen.append(SeenEntry(key: object.key, sequence: present?.sequence))
                }
                // One that was saved as a new object since is not replaced by an older one.
                if let present, present.sequence > entry.sequence { continue }
            } else if try entries.find(object.key) != nil {
                // What it holds in relations is stored as it is now.
                continue
            }
            batch.put(object)
        }
    }
}
