import ArchiveQuery
import StorageEngine

extension ArchiveCore {
    private static var samples: Int { 64 }
    private static var sampleBytes: Int { 262_144 }

    /// The condition on encoded values before the first limit; `nil` if unknown, or if objects are in memory only.
    package func encodedPredicate(of queries: [Query<Object>]) throws -> QueryPredicate? {
        guard let (conditions, properties) = try encodedConditions(of: queries) else { return nil }
        // Accepts values without a property, which a type's `init(from:)` may read in another way.
        return .or([conditions] + properties.map { .presence($0, .null) })
    }

    package func encodedConditions(
        of queries: [Query<Object>]
    ) throws -> (conditions: QueryPredicate, properties: [QueryProperty])? {
        guard coder.isDecodedByLibrary else { return nil }
        let conditions = conditions(of: queries)
        guard !conditions.isEmpty, !memory.hasObjectsOnlyHere else { return nil }
        var properties: [QueryProperty] = []
        let parts = try conditions.compactMap {
            try $0.predicate { path in
                let property = try encodedProperty(at: path)
                if let property { properties.append(property) }
                return property
            }
        }
        guard !parts.isEmpty, let version = coder.form?.versions.current, version > 0 else {
            return parts.isEmpty ? nil : (.and(parts), properties)
        }
        // Values of a former version are let through, and tested as objects.
        let isPresent = QueryPredicate.compare(.named(StoredForm.name), .equal, .integer(Int64(version)))
        return (.or([.and(parts), .not(isPresent)]), properties)
    }

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
        let encoded = try encodedConditions(of: queries)?.conditions
        let others = try conditions.flatMap(\.properties).filter { condition in
            guard coder.isDecodedByLibrary, let property = try encodedProperty(at: condition.path) else {
                return true
            }
            return condition.test.predicate(about: property) == nil
        }
        var reason: String?
        if encoded == nil, !conditions.isEmpty {
            reason =
                !coder.isDecodedByLibrary
                ? "\(readableName(of: Object.self)) has its own coding, which queries can't read"
                : memory.hasObjectsOnlyHere ? "some objects are only in this process's memory" : nil
        }
        return QueryExplanation(
            encoded: encoded.map { QueryPipeline([.find($0)]).description },
            ofObjects: others.map { $0.path.map { "\($0)" }.joined(separator: " of ") }, reason: reason)
    }

    private func encodedProperty(at path: [AnyKeyPath]) throws -> QueryProperty? {
        let way = PropertyPath(steps: path)
        if let known = proven.withLock({ $0[way] }) { return known }
        let proof = PropertyProof<Object> { [coder] bytes in
            try bytes.withUnsafeBytes { bytes in
                // A former version may use the name for another property.
                guard coder.form?.isPresent(bytes) != false else { throw ArchiveError.noProperties }
                return try coder.decode(bytes, key: "").object
            }
        }
        var samples: [[UInt8]] = []
        var bytes = 0
        let latest = QueryPlan(QueryPipeline([.limit(Self.samples)]))
        try latest.run(over: archive) { row in
            guard let value = row.value,
                value.withUnsafeBytes({ coder.form?.isPresent($0) }) != false
            else { return true }
            samples.append(value)
            bytes += value.count
            return bytes < Self.sampleBytes
        }
        let found = samples.lazy.compactMap { proof.property(at: path, in: $0) }.first.flatMap { property in
            samples.allSatisfy { proof.agrees(with: property, at: path, in: $0) } ? property : nil
        }
        // An unproven property is tried again once the archive has values.
        if !samples.isEmpty { proven.withLock { $0[way] = .some(found) } }
        return found
    }

    // MARK: Results

    package func seen(by queries: [Query<Object>]) throws -> [Seen] {
        try shared.times.measure(.query) {
            try atOneMoment({
                if let predicate = try encodedPredicate(of: queries) { return try ask(predicate, queries) }
                return try Query.run(queries, over: allObjects()) { $0.object }
            }) { try seen(by: queries, in: $0) }
        }
    }

    /// The results of the queries among the entries that match the predicate, whose objects are tested again.
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
                reportUnreadable(entry.key, error)
            }
            return !run.isComplete
        }
        reportDamage(report)
        return run.finish()
    }

    private struct DamagedEntries: Error, CustomStringConvertible {
        let count: Int
        var description: String { "\(count) damaged and left out; `vellum check` lists them" }
    }

    func reportDamage(_ report: QueryReport) {
        guard report.damaged > 0 else { return }
        log("query all entries", nil, DamagedEntries(count: report.damaged))
    }

    /// The keys of the entries whose encoded values match the predicate, or of all entries, the most recent first.
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
        reportDamage(report)
        return names
    }

    func objects(named names: [String]) throws -> [Seen] {
        try names.compactMap { name in
            let sequence = try archive.metadata(name)?.sequence ?? 0
            return try peekIfKnown(name).map { Seen(object: $0, name: name, sequence: sequence) }
        }
    }

    // MARK: Deleting

    struct Version: Sendable {
        var name: String
        var sequence: UInt64
    }

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

    func delete(_ versions: [Version]) throws -> Int {
        var count = 0
        flights.outdate(versions.lazy.map { ExactText($0.name) })
        for version in versions {
            guard try archive.delete(version.name, ifSequence: version.sequence) == .deleted else { continue }
            count += 1
            try withHashed(version.name) { try memory.forget($0, named: version.name) }
        }
        return count
    }
}

/// Key paths never change.
struct PropertyPath: Hashable, @unchecked Sendable {
    let steps: [AnyKeyPath]
}
