/// A query of asynchronous code: `try await users.asynchronous.findWhere { $0.age(.less(than: 30)) }.getResults()`. As a
/// ``QueryBuilder`` in all else.
///
/// Objects are read elsewhere, some hundred at a time, and asked where the caller runs, so that closures may use what its
/// actor guards. They are as they were at one moment: where others change the archive meanwhile, the query is carried out once more,
/// over a snapshot.
public struct AsynchronousQuery<Archive: Archivable>: QueryComposing {
    let handle: ArchiveHandle<Archive>
    /// The steps so far.
    public let queries: [Query<Archive>]

    private static var batch: Int { 256 }

    /// The same with another step.
    public func adding(_ query: Query<Archive>) -> AsynchronousQuery {
        AsynchronousQuery(handle: handle, queries: queries + [query])
    }

    /// As ``QueryBuilder/getResults()``.
    public nonisolated(nonsending) func getResults() async throws -> [Archive] {
        let seen = try await seen()
        let names = seen.map(\.name)
        try await handle.elsewhere { try $0.countAccesses(names) }
        return seen.map(\.object)
    }

    /// As ``QueryBuilder/firstResult()``.
    public nonisolated(nonsending) func firstResult() async throws -> Archive? {
        try await limitResults(by: 1).getResults().first
    }

    /// As ``QueryBuilder/lastResult()``.
    public nonisolated(nonsending) func lastResult() async throws -> Archive? { try await getResults().last }

    /// As ``QueryBuilder/count()``.
    public nonisolated(nonsending) func count() async throws -> Int { try await seen().count }

    /// As ``QueryBuilder/deleteResults()``.
    @discardableResult
    public nonisolated(nonsending) func deleteResults() async throws -> Int {
        let versions = try await seen().map {
            ArchiveCore<Archive>.Version(name: $0.name, sequence: $0.sequence)
        }
        return try await handle.elsewhere { try $0.delete(versions) }
    }

    /// How the query is carried out.
    public nonisolated(nonsending) func explain() async throws -> QueryExplanation {
        let carried = CarriedQueries(queries: queries)
        return try await handle.elsewhere { try $0.explanation(of: carried.queries) }
    }

    private nonisolated(nonsending) func seen() async throws -> [ArchiveCore<Archive>.Seen] {
        let carried = CarriedQueries(queries: queries)
        let look = try await handle.elsewhere { try $0.look(for: carried.queries) }
        let found = try await seen(in: look)
        if try await handle.elsewhere({ try $0.isUnchanged(since: look.mark) }) { return found }
        return try await seen(in: handle.elsewhere { try $0.pastLook(for: carried.queries) })
    }

    private nonisolated(nonsending) func seen(
        in look: ArchiveCore<Archive>.Look
    ) async throws -> [ArchiveCore<Archive>.Seen] {
        var run = RunningQuery<ArchiveCore<Archive>.Seen, Archive>(queries)
        var begin = 0
        while begin < look.count, !run.isComplete {
            try Task.checkCancellation()
            let next = begin..<min(begin + AsynchronousQuery.batch, look.count)
            begin = next.upperBound
            for item in try await handle.elsewhere({ try $0.objects(next, of: look) }) where !run.isComplete {
                run.add(item, item.object)
            }
        }
        return run.finish()
    }
}

extension AsynchronousArchives: QueryComposing {
    /// Begins a query.
    public func adding(_ query: Query<Archive>) -> AsynchronousQuery<Archive> {
        AsynchronousQuery(handle: handle, queries: [query])
    }

    /// As ``ArchiveManager/process(queries:)``.
    public nonisolated(nonsending) func process(queries: [Query<Archive>]) async throws -> [Archive] {
        try await AsynchronousQuery(handle: handle, queries: queries).getResults()
    }

    /// As ``ArchiveManager/countResults(of:)``.
    public nonisolated(nonsending) func countResults(of queries: [Query<Archive>]) async throws -> Int {
        try await AsynchronousQuery(handle: handle, queries: queries).count()
    }

    /// As ``ArchiveManager/deleteResults(of:)``.
    @discardableResult
    public nonisolated(nonsending) func deleteResults(of queries: [Query<Archive>]) async throws -> Int {
        try await AsynchronousQuery(handle: handle, queries: queries).deleteResults()
    }
}
