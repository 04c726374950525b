import CBOR
import Foundation
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
            _ = try core.withArchive(creates: false) { archive in
                let entries = SnapshotEntries(snapshot: try archive.snapshot())
                var run = MigrationRun(migration: self, from: from, to: to, entries: entries)
                try run.convertAll(in: archive)
            }
        }
    }
}

/// One conversion of all old objects. For one thread.
///
/// Deletes each old object in the batch that stores its new one, so a migration that is killed and started again finds
/// each object once. The batch also puts the old object aside (``Original``), for those that are related to it and are
/// converted later: by another batch, by the process that continues after a kill, or by another migration.
///
/// An object stays as it is if it can't be decoded as the old type, its new object can't be encoded, an existing object
/// under the new key is damaged, or another object has its new identifier: one that has it already, or an old one that keeps
/// it, whichever of the two comes first. What a migration stored as a related object alone (``StoredEntry/isRelatedOnly``)
/// is replaced by an old object's own conversion.
private struct MigrationRun<FromObject: Papyrus, ToObject: Papyrus> {
    let migration: Migration<FromObject, ToObject>
    let from: StoredType
    let to: StoredType
    var entries: SnapshotEntries
    private var misread = Misread()
    /// Whether there is room in a batch for old objects beside the new ones.
    private var keepsOriginals = true
    /// The keys that new objects have got.
    private var taken: Set<String> = []
    /// The keys of what this run stored because others are related to it; `entries` is older.
    private var related: Set<String> = []
    /// Of those asked for: whether an old object keeps the identifier of a new key. Finding out costs a conversion.
    private var kept: [String: Bool] = [:]

    init(
        migration: Migration<FromObject, ToObject>, from: StoredType, to: StoredType, entries: SnapshotEntries
    ) {
        (self.migration, self.from, self.to, self.entries) = (migration, from, to, entries)
    }

    mutating func convertAll(in archive: Archive) throws {
        var waiting = try entries.keys(of: from, &misread)[...]
        var count = Self.objectsAtOnce
        // Since when others have come first each time.
        var failing: ContinuousClock.Instant?
        while let first = waiting.first {
            let part = waiting.prefix(count)
            let changes = try changes(of: part, in: archive)
            do {
                if try changes.batch.isEmpty || archive.apply(changes.batch, ifUnchanged: changes.seen) != nil
                {
                    waiting = waiting.dropFirst(part.count)
                    keepsOriginals = true
                    taken.formUnion(changes.taken)
                    related.formUnion(changes.related)
                    count = min(2 * count, Self.objectsAtOnce)
                    failing = nil
                } else {
                    // Some of them were changed in the meantime; fewer at once take less time.
                    count = max(1, part.count / 2)
                    let since = failing ?? .now
                    failing = since
                    guard part.count > 1 || since.duration(to: .now) < Self.patience else {
                        throw StorageError.busy(
                            archive: archive.name, process: 0,
                            reason: "others keep changing \"\(first)\"; register the migration again")
                    }
                    entries = SnapshotEntries(snapshot: try archive.snapshot())
                    (kept, related) = ([:], [])
                }
            } catch let error as StorageError {
                guard case .batchTooLarge = error else { throw error }
                if part.count > 1 {
                    count = part.count / 2
                } else if keepsOriginals {
                    keepsOriginals = false
                } else {
                    misread.add(first, StoredProblem(description: error.description))
                    waiting = waiting.dropFirst()
                    keepsOriginals = true
                }
            }
        }
        guard let problem = misread.problem("can't be converted into \(to.name), and stays") else { return }
        throw PapyrusStore.QueryError.invalidSchema(details: problem)
    }

    /// Few enough to fit into a batch, and to hold the archive's lock only briefly.
    private static var objectsAtOnce: Int { 500 }

    /// How long others may come first, at last with a single object, before it gives up.
    private static var patience: Duration { .seconds(10) }

    /// The changes, the versions that they depend on, and the keys that they give to new objects and to related ones.
    private typealias Changes = (
        batch: Batch, seen: [SeenEntry], taken: Set<String>, related: Set<String>
    )

    /// Objects to be written, each with the existing entry under its key.
    private typealias NewObjects = [(object: WrittenObject, present: StoredEntry?)]

    private mutating func changes(of keys: ArraySlice<String>, in archive: Archive) throws -> Changes {
        let live = LiveEntries(archive)
        let loader = ObjectLoader(MigratedEntries(entries: entries))
        let bare = ObjectLoader(NoEntries())
        return try loader.use {
            var changes: Changes = (Batch(), [], [], [])
            for key in keys {
                let entry: StoredEntry
                let new: NewObjects
                do {
                    guard let found = try entries.find(key) else { continue }
                    // Without its relations, which may not be converted yet, or be found as they were.
                    if from == to, (try? bare.use({ try bare.object(ToObject.self, of: found) })) != nil {
                        continue
                    }
                    new = try converted(found, loader).map {
                        let source: any EntrySource = related.contains($0.key) ? live : entries
                        return ($0, $0.key == key ? nil : try source.find($0.key))
                    }
                    entry = found
                } catch {
                    misread.add(key, try Self.isOfThisObject(error))
                    continue
                }
                if let (object, present) = new.first(where: \.object.isGiven) {
                    let isTaken = isTaken(object.key, changes)
                    let isKept = object.key.dropFirst(to.prefix.count) == key.dropFirst(from.prefix.count)
                    let isThere = present.map { !$0.isRelatedOnly } ?? false
                    if entry.isRelatedOnly, isThere {
                        // It only stands for the one that is there.
                        changes.seen.append(SeenEntry(key: entry.key, sequence: entry.sequence))
                        changes.batch.delete(entry.key)
                        continue
                    }
                    if try isTaken || !isKept && (isThere || isKeptByOld(object.key, loader)) {
                        let reason = "another object has its new identifier: \(object.key)"
                        misread.add(key, StoredProblem(description: reason))
                        continue
                    }
                    changes.taken.insert(object.key)
                }
                // Only after all of it succeeded: an old object must not be deleted unless its new one is stored.
                try add(new, of: entry, loader, to: &changes)
            }
            return changes
        }
    }

    private func converted(_ old: StoredEntry, _ loader: ObjectLoader) throws -> [WrittenObject] {
        try ObjectWriter.entries(of: [migration.onMigrate(try loader.object(FromObject.self, of: old))])
    }

    /// The error, unless it isn't about one object only.
    private static func isOfThisObject(_ error: any Error) throws -> any Error {
        let error = ObjectLoader.orDamaged(error)
        guard !(error is StorageError) else { throw error }
        return error
    }

    private func isTaken(_ key: String, _ changes: Changes) -> Bool {
        taken.contains(key) || changes.taken.contains(key)
    }

    /// Whether an old object has this new key's identifier and keeps it, or can't be read, so that it may. Without this it
    /// would depend on the order who gets it, and a later run would take the new object for a later version of the old one.
    private mutating func isKeptByOld(_ key: String, _ loader: ObjectLoader) throws -> Bool {
        guard from != to, key.hasPrefix(to.prefix) else { return false }
        if let known = kept[key] { return known }
        let isKept: Bool
        do {
            let old = try entries.find(from.prefix + key.dropFirst(to.prefix.count))
            isKept =
                try old.map { try converted($0, loader).contains { $0.isGiven && $0.key == key } } ?? false
        } catch {
            _ = try Self.isOfThisObject(error)
            isKept = true
        }
        kept[key] = isKept
        return isKept
    }

    private mutating func add(
        _ new: NewObjects, of entry: StoredEntry, _ loader: ObjectLoader, to changes: inout Changes
    ) throws {
        changes.seen.append(SeenEntry(key: entry.key, sequence: entry.sequence))
        if keepsOriginals, !entry.isRelatedOnly, let given = new.first(where: \.object.isGiven)?.object.key {
            try Original.keep(entry, as: FromObject.self, becoming: given, in: &changes.batch)
        }
        if from != to || !new.contains(where: { $0.object.key == entry.key }) {
            changes.batch.delete(entry.key)
        }
        for (written, present) in new {
            var object = written
            if object.isGiven {
                object.created = entry.created
                if entry.isRelatedOnly { object.value = StoredEntry.relatedOnly + object.value }
            } else if try present != nil || isTaken(object.key, changes)
                || changes.related.contains(object.key)
                || isKeptByOld(object.key, loader)
            {
                // A related object that is stored already stays, and one that is an old object's is stored as that one's.
                continue
            } else {
                object.value = StoredEntry.relatedOnly + object.value
                changes.related.insert(object.key)
            }
            if object.key != entry.key {
                changes.seen.append(SeenEntry(key: object.key, sequence: present?.sequence))
            }
            // An object that was saved later with the new type isn't replaced by an older one.
            if let present, object.isGiven, present.sequence > entry.sequence, !present.isRelatedOnly {
                continue
            }
            changes.batch.put(object)
        }
    }
}

/// An old object that was converted. It stays for some days under a key of its own, which no query of objects finds.
private struct Original: Codable {
    /// The key of what it became.
    var successor: String
    /// The Swift type that it can be decoded as.
    var form: String
    var value: Data

    private static let lifetime = Duration.seconds(7 * 86_400)
    /// Types that one object is converted through, at most.
    private static let longestChain = 32

    /// `nil` if the key has no room for more.
    private static func key(of key: String) -> String? {
        let original = "~migrated/" + key
        return original.utf8.count <= 1_024 ? original : nil
    }

    static func keep<Object: Papyrus>(
        _ entry: StoredEntry, as type: Object.Type, becoming successor: String, in batch: inout Batch
    ) throws {
        guard let key = key(of: entry.key) else { return }
        let original = Original(
            successor: successor, form: StoredType.name(of: type), value: Data(entry.value))
        batch.put(
            try CBOREncoder().encode(original), forKey: key, encoding: .cbor,
            attributes: EntryAttributes(lifetime: lifetime))
    }

    /// That of a key, unless what it became was deleted since.
    static func find(_ key: String, in entries: SnapshotEntries) throws -> Original? {
        guard let entry = try Original.key(of: key).flatMap(entries.find) else { return nil }
        let original = try CBORDecoder().decode(Original.self, from: entry.value)
        var last = original
        for _ in 0..<longestChain {
            if try entries.find(last.successor) != nil { return original }
            guard let entry = try Original.key(of: last.successor).flatMap(entries.find) else { return nil }
            last = try CBORDecoder().decode(Original.self, from: entry.value)
        }
        return nil
    }
}

/// What a migration reads: also objects that were converted already, as they were.
private struct MigratedEntries: EntrySource {
    let entries: SnapshotEntries

    func find(_ key: String) throws -> StoredEntry? { try entries.find(key) }

    func find(_ key: String, as type: Any.Type) throws -> StoredEntry? {
        let present = try entries.find(key)
        guard let original = try Original.find(key, in: entries) else { return present }
        // Of one that has its key still, only what was of this type.
        let isInPlace = original.successor == key
        if isInPlace ? original.form != StoredType.name(of: type) : present != nil { return present }
        return StoredEntry(
            key: key, value: Array(original.value), created: Timestamp(microseconds: 0),
            sequence: present?.sequence ?? 0)
    }
}

/// Where nothing can be found.
private struct NoEntries: EntrySource {
    func find(_ key: String) -> StoredEntry? { nil }
}

extension StoredEntry {
    /// What stands before an object that a migration stored because others are related to it: the tag that means nothing
    /// (RFC 8949, 3.4.6). Saving the object removes it.
    fileprivate static let relatedOnly: [UInt8] = [0xd9, 0xd9, 0xf7]

    fileprivate var isRelatedOnly: Bool { value.starts(with: StoredEntry.relatedOnly) }
}
