import ArchiveQuery
import StorageEngine

/// Many objects as they are at one moment, so that nobody finds one as it was before a transaction and another as it is after.
extension ArchiveCore {
    /// What `live` finds in the archive, if nobody has changed that meanwhile. Else what `past` finds in a snapshot, which doesn't
    /// change, and for which every object has to be read from disk.
    func atOneMoment<Value>(
        _ live: () throws -> Value, else past: (ArchiveSnapshot) throws -> Value
    ) throws -> Value {
        let mark = try archive.changeMark()
        let found = try live()
        return try isUnchanged(since: mark) ? found : past(archive.snapshot())
    }

    /// Whether no change has become visible since the mark was taken. Waits for nobody.
    func isUnchanged(since mark: UInt64) throws -> Bool {
        // In this order: who is through has moved the mark before.
        guard try archive.isBeingChanged() == false else { return false }
        return try archive.changeMark() == mark
    }

    // MARK: What there was

    /// Where an object of a snapshot is.
    package enum Place: Sendable {
        /// By its number in the snapshot.
        case onDisk(Int)
        /// Too large for the disk: in this process' memory alone, where no transaction changes it together with others.
        case onlyHere(String)
    }

    /// The places of the objects whose encoded values meet the predicate, or of all, the most recent first.
    package func places(
        in snapshot: ArchiveSnapshot, meeting predicate: QueryPredicate?
    ) throws -> [Place] {
        guard let predicate else { return try allPlaces(in: snapshot) }
        var numbers: [Int] = []
        let plan = QueryPlan(QueryPipeline([.find(predicate)]))
        let report = try plan.run(over: SnapshotSource(snapshot: snapshot)) { row in
            if let rank = row.entry?.rank { numbers.append(rank - 1) }
            return true
        }
        noteDamage(report)
        return numbers.map { .onDisk($0) }
    }

    private func allPlaces(in snapshot: ArchiveSnapshot) throws -> [Place] {
        var places = (0..<snapshot.count).map { Place.onDisk($0) }
        guard memory.hasObjectsOnlyHere else { return places }
        let list = try archive.entries()
        // The least recent first: what is put in moves none of those before it.
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

    /// The objects of these places; what is no object, or damaged, is told of and left out.
    func objects(
        at places: some Sequence<Place>, of snapshot: ArchiveSnapshot
    ) -> some Sequence<Seen> {
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
                noteUnreadable(name, error)
            } catch {
                log("read", name, error)
            }
            return nil
        }
    }

    /// What the queries leave of a snapshot.
    package func seen(by queries: [Query<Object>], in snapshot: ArchiveSnapshot) throws -> [Seen] {
        let places = try places(in: snapshot, meeting: encodedPredicate(of: queries))
        return Query.run(queries, over: objects(at: places, of: snapshot)) { $0.object }
    }

    // MARK: Piece by piece

    /// What a query that lets others work in between goes through.
    struct Look: Sendable {
        fileprivate enum Found: Sendable {
            case live(names: [String])
            case past(ArchiveSnapshot, [Place])
        }

        fileprivate let found: Found
        /// When the look was begun.
        let mark: UInt64

        var count: Int {
            switch found {
            case .live(let names): names.count
            case .past(_, let places): places.count
            }
        }
    }

    /// A look at the archive, whose objects are as they are when they are read.
    func look(for queries: [Query<Object>]) throws -> Look {
        let mark = try archive.changeMark()
        return Look(found: .live(names: try names(meeting: encodedPredicate(of: queries))), mark: mark)
    }

    /// A look at a snapshot of it.
    func pastLook(for queries: [Query<Object>]) throws -> Look {
        let (mark, snapshot) = (try archive.changeMark(), try archive.snapshot())
        let places = try places(in: snapshot, meeting: encodedPredicate(of: queries))
        return Look(found: .past(snapshot, places), mark: mark)
    }

    /// Some of the objects that are looked at.
    func objects(_ range: Range<Int>, of look: Look) throws -> [Seen] {
        switch look.found {
        case .live(let names): try objects(named: Array(names[range]))
        case .past(let snapshot, let places): Array(objects(at: places[range], of: snapshot))
        }
    }
}

/// Conditions of a query are asked by one thread at a time.
struct CarriedQueries<Object>: @unchecked Sendable {
    let queries: [Query<Object>]
}
