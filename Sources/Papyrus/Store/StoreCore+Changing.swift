import CBOR
import Foundation
import StorageEngine

/// An entry beside a merge's objects, by which a concurrent merge of the type notices it.
private struct MergeMark: Codable {
    var type: String
    var merged: Date
}

/// Every change is one batch in one archive, so readers find all of it or nothing, even after a crash.
extension StoreCore {
    private static let mostRetries = 1_000

    /// Calls `body` with the archive, and passes the resulting state to observations.
    private func change<Value>(creates: Bool = true, _ body: (Archive) throws -> Value) throws -> Value? {
        try withArchive(creates: creates) { archive in
            let value = try body(archive)
            // The change is done, even if observations fail, which then read the state later.
            try? lane.offer(archive)
            return value
        }
    }

    func save(_ objects: [WrittenObject]) throws {
        guard !objects.isEmpty else { return }
        var batch = Batch()
        for object in objects { batch.put(object) }
        _ = try change { try $0.apply(batch) }
    }

    func delete(_ keys: [String]) throws {
        guard !keys.isEmpty else { return }
        var batch = Batch()
        for key in keys { batch.delete(key) }
        _ = try change(creates: false) { try $0.apply(batch) }
    }

    /// Stores the objects, and deletes the type's other objects for which `isIncluded` returns true; `nil` means all
    /// others. Concurrent merges of a type run one after the other: a later one starts again. Objects saved during it
    /// stay.
    func merge<Object: Papyrus>(
        _ objects: [WrittenObject], type: Object.Type, journal: Journal,
        into isIncluded: (@Sendable (Object) -> Bool)?
    ) throws {
        let stored = StoredType.of(type)
        let kept = Set(objects.map { ExactText($0.key) })
        let mark = MergeMark(type: stored.name, merged: Date())
        _ = try change(creates: !objects.isEmpty) { archive in
            for _ in 0..<StoreCore.mostRetries {
                let before = SeenEntry(key: stored.mark, sequence: try archive.sequence(of: stored.mark))
                var others = try StoreCore.versions(
                    of: stored, in: archive, without: kept, where: isIncluded, journal: journal)
                var isFirst = true
                while isFirst {
                    if objects.isEmpty, others.isEmpty { return }
                    var batch = Batch()
                    for (key, _) in others { batch.delete(key) }
                    for object in objects { batch.put(object) }
                    batch.update(try CBOREncoder().encode(mark), forKey: stored.mark, encoding: .cbor)
                    let seen = others.compactMap { other in
                        other.sequence.map { SeenEntry(key: other.key, sequence: $0) }
                    }
                    if try archive.apply(batch, ifUnchanged: seen + [before]) != nil { return }
                    isFirst = try archive.sequence(of: stored.mark) == before.sequence
                    others = try others.filter { key, sequence in
                        try sequence == nil || archive.sequence(of: key) == sequence
                    }
                }
            }
            throw StorageError.busy(
                archive: archive.name, process: 0,
                reason: "other merges of \(stored.name) keep changing the objects; try again")
        }
    }

    /// The objects to delete, with their versions; damaged values, which no filter gets, are always included.
    private static func versions<Object: Papyrus>(
        of stored: StoredType, in archive: Archive, without kept: Set<ExactText>,
        where isIncluded: ((Object) -> Bool)?, journal: Journal
    ) throws -> [(key: String, sequence: UInt64?)] {
        let entries = SnapshotEntries(snapshot: try archive.snapshot())
        var misread = Misread()
        defer {
            if let problem = misread.problem("kept") {
                journal.error("read all objects of \(stored.name) for a merge", problem)
            }
        }
        guard let isIncluded else {
            return try entries.versions(of: stored, &misread).filter { !kept.contains(ExactText($0.key)) }
        }
        let loader = ObjectLoader(entries)
        return try loader.use {
            try entries.entries(of: stored, &misread).filter { entry in
                guard !kept.contains(ExactText(entry.key)) else { return false }
                do {
                    return isIncluded(try loader.object(Object.self, of: entry))
                } catch let error as PapyrusQueryError {
                    misread.add(entry.key, error)
                    return false
                }
            }.map { ($0.key, $0.sequence) }
        }
    }

    /// Deletes all objects of a type: in one batch if they fit, some hundred thousand, otherwise in parts.
    func deleteAll<Object: Papyrus>(of type: Object.Type, journal: Journal) throws {
        do {
            try merge([], type: type, journal: journal, into: nil)
        } catch let error as StorageError {
            guard case .batchTooLarge = error else { throw error }
            _ = try change(creates: false) { try $0.deleteEntries(ofOwner: StoredType.of(type).name) }
        }
    }

    func reset() throws { _ = try change(creates: false) { try $0.deleteAll() } }
}

extension Batch {
    mutating func put(_ object: WrittenObject) {
        update(
            object.value, forKey: object.key, encoding: .cbor,
            attributes: EntryAttributes(owner: object.owner), created: object.created)
    }
}
