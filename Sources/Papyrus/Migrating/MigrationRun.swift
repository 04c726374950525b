import Foundation
import StorageEngine

/// One conversion of all old objects. For one thread.
///
/// One batch deletes an old object, stores its new one, and keeps the old one under a hidden key (``Original``) for related objects
/// that are converted later, by this run, one after a kill, or another migration. So a restarted migration finds each object once.
///
/// An object stays if it can't be decoded as the old type, its new object can't be encoded, an existing object under the new key
/// is damaged, or another object has its new identifier: an existing one, or an old one that keeps it, whichever is first. If a
/// new object was stored only because another is related to it (``StoredEntry/isRelatedOnly``), the conversion of its old object
/// replaces it. No object is stored under the key of an object that was converted again or deleted.
struct MigrationRun<FromObject: Papyrus, ToObject: Papyrus> {
    let migration: Migration<FromObject, ToObject>
    let from: StoredType
    let to: StoredType
    /// The prefixes of types that are converted into old ones.
    let earlier: [String]
    var entries: SnapshotEntries
    private var misread = Misread()
    /// Whether a batch has space for old objects beside the new ones.
    private var keepsOriginals = true
    /// The keys of new objects.
    private var taken: Set<String> = []
    /// The keys of objects that this run stored because others are related to them. `entries` lacks these.
    private var related: Set<String> = []
    private var mentioned: Set<String> = []
    private var hasChanged = false
    /// For requested keys: whether an old object keeps the identifier of a new key. Determining it costs a conversion.
    private var kept: [String: Bool] = [:]

    init(
        migration: Migration<FromObject, ToObject>, from: StoredType, to: StoredType, earlier: [String],
        entries: SnapshotEntries
    ) {
        (self.migration, self.from, self.to) = (migration, from, to)
        (self.earlier, self.entries) = (earlier, entries)
    }

    mutating func convertAll(in archive: Archive) throws -> MigrationOutcome {
        var waiting = try entries.keys(of: from, &misread)[...]
        var count = Self.objectsAtOnce
        // Time of the first of consecutive conflicts with other changes; `nil`: the last batch had none.
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
                    mentioned.formUnion(changes.mentioned)
                    hasChanged = hasChanged || !changes.batch.isEmpty
                    count = min(2 * count, Self.objectsAtOnce)
                    failing = nil
                } else {
                    // Some objects were changed in between; a smaller batch is faster, so a conflict is less likely.
                    count = max(1, part.count / 2)
                    let since = failing ?? .now
                    failing = since
                    guard part.count > 1 || since.duration(to: .now) < Self.conflictTimeout else {
                        throw StorageError.busy(
                            archive: archive.name, process: 0,
                            reason: "other processes keep changing \"\(first)\"; register the migration again"
                        )
                    }
                    entries = SnapshotEntries(snapshot: try archive.snapshot())
                    (kept, related) = ([:], [])
                }
            } catch let error as StorageError {
                let isFull: Bool
                switch error {
                case .batchTooLarge: isFull = false
                case .noSpace: isFull = true
                default: throw error
                }
                if part.count > 1 {
                    count = part.count / 2
                } else if keepsOriginals {
                    keepsOriginals = false
                } else if isFull {
                    throw error
                } else {
                    misread.add(first, StoredProblem(description: error.description))
                    waiting = waiting.dropFirst()
                    keepsOriginals = true
                }
            }
        }
        let problem = misread.problem("not converted into \(to.name)")
            .map { PapyrusQueryError.invalidSchema(details: $0) }
        return MigrationOutcome(hasChanged: hasChanged, mentioned: mentioned, problem: problem)
    }

    /// Maximum objects of a batch, so that they fit into it and the archive's lock is held only briefly.
    private static var objectsAtOnce: Int { 500 }

    /// Longest time of consecutive conflicts before the migration throws; the last attempts use a single object.
    private static var conflictTimeout: Duration { .seconds(10) }

    /// The content of one batch.
    private struct Changes {
        var batch = Batch()
        var seen: [SeenEntry] = []
        /// The keys of the batch's new objects, and of related ones.
        var taken: Set<String> = []
        var related: Set<String> = []
        var mentioned: Set<String> = []
    }

    /// Objects to be written, each with the existing entry under its key.
    private typealias NewObjects = [(object: WrittenObject, present: StoredEntry?)]

    private mutating func changes(of keys: ArraySlice<String>, in archive: Archive) throws -> Changes {
        let live = LiveEntries(archive)
        let loader = ObjectLoader(MigratedEntries(entries: entries))
        return try loader.use {
            var changes = Changes()
            for key in keys {
                let entry: StoredEntry
                let new: NewObjects
                do {
                    guard let found = try entries.find(key) else { continue }
                    new = try converted(found, loader).map {
                        let source: any EntrySource = related.contains($0.key) ? live : entries
                        return ($0, try source.find($0.key))
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
                    if try entry.isRelatedOnly && isThere
                        && (isKept || Original.find(key, in: entries)?.successor == object.key)
                    {
                        // The entry is only a reference to the existing object.
                        _ = try keep(entry, becoming: object, &changes)
                        changes.batch.delete(entry.key)
                        continue
                    }
                    let hasOther = isThere || entry.isRelatedOnly && present != nil
                    if try isTaken || !isKept && (hasOther || isKeptByOld(object.key, loader)) {
                        let reason = "another object has its new identifier: \(object.key)"
                        misread.add(key, StoredProblem(description: reason))
                        continue
                    }
                    changes.taken.insert(object.key)
                }
                // Runs after the conversion succeeded: an old object must not be deleted unless its new one is stored.
                try add(new, of: entry, loader, to: &changes)
            }
            return changes
        }
    }

    private func converted(_ old: StoredEntry, _ loader: ObjectLoader) throws -> [WrittenObject] {
        try ObjectWriter.entries(of: [migration.onMigrate(try loader.object(FromObject.self, of: old))])
    }

    /// Returns an error that concerns only this object; throws any other.
    private static func isOfThisObject(_ error: any Error) throws -> any Error {
        let error = ObjectLoader.orDamaged(error)
        guard !(error is StorageError) else { throw error }
        return error
    }

    private func isTaken(_ key: String, _ changes: Changes) -> Bool {
        taken.contains(key) || changes.taken.contains(key)
    }

    /// Whether an old object has this new key's identifier and keeps it, or can't be read and so may keep it. Without this
    /// check, a later run could treat the new object as a later version of the old one.
    private mutating func isKeptByOld(_ key: String, _ loader: ObjectLoader) throws -> Bool {
        guard key.hasPrefix(to.prefix) else { return false }
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

    /// Keeps a removed old object for related objects that are converted later. Returns the number of the change that saved it.
    private mutating func keep(
        _ entry: StoredEntry, becoming new: WrittenObject?, _ changes: inout Changes
    ) throws -> UInt64 {
        changes.seen.append(SeenEntry(key: entry.key, sequence: entry.sequence))
        let identifier = entry.key.dropFirst(from.prefix.count)
        let saved = try Original.saved(entry, identifier: identifier, from: earlier, in: entries)
        if keepsOriginals, let new {
            try Original.keep(
                entry, saved: saved, becoming: new,
                isRenamed: new.key.dropFirst(to.prefix.count) != identifier, from: entries,
                in: &changes.batch, &changes.seen)
        }
        return saved
    }

    private mutating func add(
        _ new: NewObjects, of entry: StoredEntry, _ loader: ObjectLoader, to changes: inout Changes
    ) throws {
        let saved = try keep(entry, becoming: new.first(where: \.object.isGiven)?.object, &changes)
        changes.batch.delete(entry.key)
        for (written, present) in new {
            var object = written
            if object.isGiven {
                object.created = entry.created
                if entry.isRelatedOnly { object.value = StoredEntry.relatedOnly + object.value }
            } else if try present != nil || isTaken(object.key, changes)
                || changes.related.contains(object.key)
                || isKeptByOld(object.key, loader) || Original.find(object.key, in: entries) != nil
            {
                // A related object that exists is kept. One that was converted again no longer exists.
                continue
            } else {
                object.value = StoredEntry.relatedOnly + object.value
                changes.related.insert(object.key)
                changes.mentioned.insert(object.owner)
            }
            changes.seen.append(SeenEntry(key: object.key, sequence: present?.sequence))
            // An object that was saved later with the new type isn't replaced by an older one.
            if let present, object.isGiven, present.sequence > saved, !present.isRelatedOnly {
                continue
            }
            changes.batch.put(object)
        }
    }
}
