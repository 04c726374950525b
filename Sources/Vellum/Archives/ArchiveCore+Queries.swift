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
        let conditions = queries.prefix { if case .limit = $0.step { false } else { true } }
            .flatMap { query -> [QueryCondition<Object>] in
                if case .find(let conditions) = query.step { conditions } else { [] }
            }
        guard !conditions.isEmpty, !memory.hasObjectsOnlyHere else { return nil }
        let parts = try conditions.compactMap { condition -> QueryPredicate? in
            try encodedProperty(at: condition.path).flatMap { condition.test.predicate(about: $0) }
        }
        return parts.isEmpty ? nil : .and(parts)
    }

    /// The encoded property that a path names, as far as that can be proven by the latest values.
    private func encodedProperty(at path: [AnyKeyPath]) throws -> QueryProperty? {
        let way = PropertyPath(steps: path)
        if let known = proven.withLock({ $0[way] }) { return known }
        let proof = PropertyProof<Object> { [coder] bytes in
            try bytes.withUnsafeBytes { try coder.decode($0).object }
        }
        var hasSample = false
        var found: QueryProperty?
        let latest = QueryPlan(QueryPipeline([.limit(Self.samples)]))
        try latest.run(over: archive) { row in
            guard let value = row.value else { return true }
            hasSample = true
            found = proof.property(at: path, in: value)
            return found == nil
        }
        // What no value could tell is tried again when there is one.
        if hasSample { proven.withLock { $0[way] = .some(found) } }
        return found
    }

    /// What the queries leave of the entries whose encoded values meet the predicate. The objects of those are asked again:
    /// a predicate may let more through.
    func ask(_ predicate: QueryPredicate, _ queries: [Query<Object>]) throws -> [Seen] {
        var run = RunningQuery<Seen, Object>(queries)
        guard !run.isComplete else { return [] }
        let plan = QueryPlan(QueryPipeline([.find(predicate)]))
        try plan.run(over: archive) { row in
            guard let name = row.entry?.key, let value = row.value else { return true }
            do {
                let object = try value.withUnsafeBytes { try coder.decode($0).object }
                run.add(Seen(object: object, name: name), object)
            } catch {
                noteUndecodable(name, error)
            }
            return !run.isComplete
        }
        return run.finish()
    }
}

/// The way from an object to a property. Key paths never change.
struct PropertyPath: Hashable, @unchecked Sendable {
    let steps: [AnyKeyPath]
}
