import ArchiveQuery
import CBOR
import StorageEngine

/// Queries that ask the encoded values first, so that only objects that match are made.
extension ArchiveCore {
    /// Stored values that a property is looked for in, until it is found.
    private static var samples: Int { 64 }

    /// What the encoded values can be asked of the finds before any limit; `nil` if that is nothing, or if objects have to
    /// be asked because there are some that only memory has.
    package func encodedPredicate(of queries: [Query<Object>]) throws -> QueryPredicate? {
        guard coder.isDecodedByLibrary else { return nil }
        let conditions = conditions(of: queries)
        guard !conditions.isEmpty, !memory.hasObjectsOnlyHere else { return nil }
        let parts = try conditions.compactMap { try $0.predicate { try encodedProperty(at: $0) } }
        guard !parts.isEmpty, let version = coder.form?.versions.current, version > 0 else {
            return parts.isEmpty ? nil : .and(parts)
        }
        // Of a former version the object is asked.
        let isPresent = QueryPredicate.compare(.named(StoredForm.name), .equal, .integer(Int64(version)))
        return .or([.and(parts), .not(isPresent)])
    }

    /// Those that every result meets, whatever the order of the steps.
    private func conditions(of queries: [Query<Object>]) -> [QueryCondition<Object>] {
        queries.prefix {
            switch $0.step {
            case .limit, .skip: false
            case .find, .sort: true
            }
        }
        .flatMap { query -> [QueryCondition<Object>] in
            if case .find(let conditions) = query.step { conditions } else { [] }
        }
    }

    func explanation(of queries: [Query<Object>]) throws -> QueryExplanation {
        let conditions = conditions(of: queries)
        let predicate = try encodedPredicate(of: queries)
        let others = try conditions.flatMap(\.properties).filter { condition in
            guard coder.isDecodedByLibrary, let property = try encodedProperty(at: condition.path) else {
                return true
            }
            return condition.test.predicate(about: property) == nil
        }
        var reason: String?
        if predicate == nil, !conditions.isEmpty {
            reason =
                !coder.isDecodedByLibrary
                ? "\(readableName(of: Object.self)) has a coding of its own, which queries can't look into"
                : memory.hasObjectsOnlyHere ? "some objects are in this process' memory only" : nil
        }
        return QueryExplanation(
            encoded: predicate.map { QueryPipeline([.find($0)]).description },
            ofObjects: others.map { $0.path.map { "\($0)" }.joined(separator: " of ") }, reason: reason)
    }

    /// The encoded property that a path names, as far as that can be proven by the latest values.
    private func encodedProperty(at path: [AnyKeyPath]) throws -> QueryProperty? {
        let way = PropertyPath(steps: path)
        if let known = proven.withLock({ $0[way] }) { return known }
        let proof = PropertyProof<Object> { [coder] bytes in
            try bytes.withUnsafeBytes { bytes in
                // What a former version has under a name says nothing of the present one.
                guard coder.form?.isPresent(bytes) != false else { throw ArchiveError.noProperties }
                return try coder.decode(bytes, key: "").object
            }
        }
        var hasSample = false
        var found: QueryProperty?
        let latest = QueryPlan(QueryPipeline([.limit(Self.samples)]))
        try latest.run(over: archive) { row in
            guard let value = row.value,
                value.withUnsafeBytes({ coder.form?.isPresent($0) }) != false
            else { return true }
            hasSample = true
            found = proof.property(at: path, in: value)
            return found == nil
        }
        // What no value could tell is tried again when there is one.
        if hasSample { proven.withLock { $0[way] = .some(found) } }
        return found
    }

    // MARK: Results

    /// What the queries leave, without any trace.
    package func seen(by queries: [Query<Object>]) throws -> [Seen] {
        try shared.times.measure(.query) {
            try atOneMoment({
                if let predicate = try encodedPredicate(of: queries) { return try ask(predicate, queries) }
                return try Query.run(queries, over: allObjects()) { $0.object }
            }) { try seen(by: queries, in: $0) }
        }
    }

    /// What the queries leave of the entries whose encoded values meet the predicate. The objects of those are asked again:
    /// a predicate may let more through.
    private func ask(_ predicate: QueryPredicate, _ queries: [Query<Object>]) throws -> [Seen] {
        var run = RunningQuery<Seen, Object>(queries)
        guard !run.isComplete else { return [] }
        let plan = QueryPlan(QueryPipeline([.find(predicate)]))
        let report = try plan.run(over: archive) { row in
            guard let entry = row.entry, let value = row.value else { return true }
            do {
                let object = try value.withUnsafeBytes { try coder.decode($0, key: entry.key).object }
                run.add(Seen(object: object, name: entry.key, sequence: entry.sequence), object)
            } catch {
                noteUnreadable(entry.key, error)
            }
            return !run.isComplete
        }
        noteDamage(report)
        return run.finish()
    }

    /// Entries whose bytes fail their checksum, which a query leaves out.
    private struct DamagedEntries: Error, CustomStringConvertible {
        let count: Int
        var description: String { "\(count) damaged and left out; `vellum check` says which" }
    }

    func noteDamage(_ report: QueryReport) {
        guard report.damaged > 0 else { return }
        log("ask all entries", nil, DamagedEntries(count: report.damaged))
    }

    /// The keys of the entries whose encoded values meet the predicate, or of all, the most recent first.
    func names(meeting predicate: QueryPredicate?) throws -> [String] {
        guard let predicate else {
            let list = try archive.entries()
            return try list.indices.compactMap { try presentName(in: list, at: $0) }
        }
        var names: [String] = []
        let plan = QueryPlan(QueryPipeline([.find(predicate)]))
        let report = try plan.run(over: archive) { row in
            if let name = row.entry?.key { names.append(name) }
            return true
        }
        noteDamage(report)
        return names
    }

    /// The objects that there are of these keys, without any trace.
    func objects(named names: [String]) throws -> [Seen] {
        try names.compactMap { name in
            let sequence = try archive.metadata(name)?.sequence ?? 0
            return try peekIfKnown(name).map { Seen(object: $0, name: name, sequence: sequence) }
        }
    }

    // MARK: Deleting

    /// Which version of an entry.
    struct Version: Sendable {
        var name: String
        var sequence: UInt64
    }

    /// Deletes what the queries leave, as far as it hasn't been stored anew meanwhile.
    func deleteResults(of queries: [Query<Object>]) throws -> Int {
        let results = try atOneMoment({
            if let predicate = try encodedPredicate(of: queries) { return try ask(predicate, queries) }
            let all = try names(meeting: nil).lazy.compactMap { [self] name -> Result<Seen, any Error>? in
                do {
                    return try objects(named: [name]).first.map { .success($0) }
                } catch {
                    return .failure(error)
                }
            }
            return try Query.run(queries, over: all) { try $0.get().object }.map { try $0.get() }
        }) { try seen(by: queries, in: $0) }
        return try delete(results.map { Version(name: $0.name, sequence: $0.sequence) })
    }

    /// Deletes these versions, and returns how many there still were.
    func delete(_ versions: [Version]) throws -> Int {
        var count = 0
        for version in versions {
            guard try archive.delete(version.name, ifSequence: version.sequence) == .deleted else { continue }
            count += 1
            try withHashed(version.name) { try memory.forget($0, named: version.name) }
        }
        return count
    }
}

/// The way from an object to a property. Key paths never change.
struct PropertyPath: Hashable, @unchecked Sendable {
    let steps: [AnyKeyPath]
}
