import ArchiveQuery
import StorageEngine

extension ArchiveCore {
    /// The result of `live`, which reads the archive, or, if that changes, of `past`, which reads a snapshot.
    func atOneMoment<Value>(
        _ live: () throws -> Value, else past: (ArchiveSnapshot) throws -> Value
    ) throws -> Value {
        let mark = try archive.changeMark()
        let found = try live()
        return try isUnchanged(since: mark) ? found : past(archive.snapshot())
    }

    /// Whether no change has become visible since the mark was taken. Never blocks.
    func isUnchanged(since mark: UInt64) throws -> Bool {
        // In this order: a writer moves the mark before it stops being counted as changing.
        guard try archive.isBeingChanged() == false else { return false }
        return try archive.changeMark() == mark
    }

    // MARK: Snapshots

    package enum Place: Sendable {
        /// On disk, with this number in the snapshot.
        case onDisk(Int)
        /// Only in this process's memory, because it exceeds the disk limit.
        case onlyHere(String)
    }

    /// The places of the objects whose encoded values match the predicate, or of all objects, the most recent first.
    package func places(in snapshot: ArchiveSnapshot, meeting predicate: QueryPredicate?) throws -> [Place] {
        guard let predicate else { return try allPlaces(in: snapshot) }
        var numbers: [Int] = []
        let plan = QueryPlan(QueryPipeline([.find(predicate)]))
        let report = try plan.run(over: SnapshotSource(snapshot: snapshot)) { row in
            if let rank = row.entry?.rank { numbers.append(rank - 1) }
            return true
        }
        reportDamage(report)
        return numbers.map { .onDisk($0) }
    }

    private func allPlaces(in snapshot: ArchiveSnapshot) throws -> [Place] {
        var places = (0..<snapshot.count).map { Place.onDisk($0) }
        guard memory.hasObjectsOnlyHere else { return places }
        let list = try archive.entries()
        // The least recent first, so that an insertion doesn't move the places that later ones use.
        for index in list.indices.reversed() where list[index].tier == .memory && list.isReachable(at: index)
        {
            guard let name = try presentName(in: list, at: index) else { continue }
            let next = (0..<snapshot.count).first {
                (try? snapshot.metadata(at: $0).recency < list[index].recency) ?? false
            }
            places.insert(.onlyHere(name), at: next ?? snapshot.count)
        }
        return places
    }

    func objects(at places: some Sequence<Place>, of snapshot: ArchiveSnapshot) -> some Sequence<Seen> {
        places.lazy.compactMap { [self] place -> Seen? in
            var name = ""
            do {
                switch place {
                case .onlyHere(let key):
                    name = key
                    return try objects(named: [key]).first
                case .onDisk(let number):
                    name = "entry \(number)"
                    let (key, entry) = try snapshot.entry(at: number)
                    name = key
                    let object = try entry.value.withUnsafeBytes { try shared.decode($0, key).object }
                    return Seen(object: object, name: key, sequence: entry.sequence)
                }
            } catch let error as ArchiveError {
                reportUnreadable(name, error)
            } catch {
                log("read", name, error)
            }
            return nil
        }
    }

    package func seen(by queries: [Query<Object>], in snapshot: ArchiveSnapshot) throws -> [Seen] {
        let places = try places(in: snapshot, meeting: encodedPredicate(of: queries))
        return Query.run(queries, over: objects(at: places, of: snapshot)) { $0.object }
    }

    // MARK: In pieces

    struct Candidates: Sendable {
        fileprivate enum Found: Sendable {
            case live(names: [String])
            case past(ArchiveSnapshot, [Place])
        }

        fileprivate let found: Found
        /// The archive's change mark before the keys were listed or the snapshot was taken.
        let mark: UInt64

        var count: Int {
            switch found {
            case .live(let names): names.count
            case .past(_, let places): places.count
            }
        }
    }

    func liveCandidates(for queries: [Query<Object>]) throws -> Candidates {
        let mark = try archive.changeMark()
        return Candidates(found: .live(names: try names(meeting: encodedPredicate(of: queries))), mark: mark)
    }

    func snapshotCandidates(for queries: [Query<Object>]) throws -> Candidates {
        let (mark, snapshot) = (try archive.changeMark(), try archive.snapshot())
        let places = try places(in: snapshot, meeting: encodedPredicate(of: queries))
        return Candidates(found: .past(snapshot, places), mark: mark)
    }

    func objects(_ range: Range<Int>, of candidates: Candidates) throws -> [Seen] {
        switch candidates.found {
        case .live(let names): try objects(named: Array(names[range]))
        case .past(let snapshot, let places): Array(objects(at: places[range], of: snapshot))
        }
    }
}

/// The conditions of these queries are called by one thread at a time.
struct CarriedQueries<Object>: @unchecked Sendable {
    let queries: [Query<Object>]
}
