/// A query for asynchronous code: `try await users.asynchronous.findWhere { $0.age(.less(than: 30)) }.getResults()`.
/// Otherwise like a ``QueryBuilder``. Objects are read on a system thread, some hundred at a time, and tested on the
/// caller's actor, so that closures may use its state. All results are as they were at one moment: if the archive
/// changes while the query runs, it runs again on a snapshot.
public struct AsynchronousQuery<Object: Archivable>: QueryComposing {
    let handle: ArchiveHandle<Object>
    /// The steps so far.
    public let queries: [Query<Object>]

    private static var batch: Int { 256 }

    /// The same with another step.
    public func adding(_ query: Query<Object>) -> AsynchronousQuery {
        AsynchronousQuery(handle: handle, queries: queries + [query])
    }

    /// As ``QueryBuilder/getResults()``.
    public nonisolated(nonsending) func getResults() async throws -> [Object] {
        let seen = try await seen()
        let names = seen.map(\.name)
        try await handle.blocking { try $0.countAccesses(names) }
        return seen.map(\.object)
    }

    /// As ``QueryBuilder/firstResult()``.
    public nonisolated(nonsending) func firstResult() async throws -> Object? {
        try await limitResults(by: 1).getResults().first
    }

    /// As ``QueryBuilder/lastResult()``.
    public nonisolated(nonsending) func lastResult() async throws -> Object? { try await getResults().last }

    /// As ``QueryBuilder/count()``.
    public nonisolated(nonsending) func count() async throws -> Int { try await seen().count }

    /// As ``QueryBuilder/deleteResults()``.
    @discardableResult
    public nonisolated(nonsending) func deleteResults() async throws -> Int {
        let versions = try await seen().map {
            ArchiveCore<Object>.Version(name: $0.name, sequence: $0.sequence)
        }
        return try await handle.blocking { try $0.delete(versions) }
    }

    private nonisolated(nonsending) func seen() async throws -> [ArchiveCore<Object>.Seen] {
        let carried = CarriedQueries(queries: queries)
        let live = try await handle.blocking { try $0.liveCandidates(for: carried.queries) }
        let found = try await seen(in: live)
        if try await handle.blocking({ try $0.isUnchanged(since: live.mark) }) { return found }
        return try await seen(in: handle.blocking { try $0.snapshotCandidates(for: carried.queries) })
    }

    private nonisolated(nonsending) func seen(
        in candidates: ArchiveCore<Object>.Candidates
    ) async throws -> [ArchiveCore<Object>.Seen] {
        var run = RunningQuery<ArchiveCore<Object>.Seen, Object>(queries)
        var begin = 0
        while begin < candidates.count, !run.isComplete {
            try Task.checkCancellation()
            let next = begin..<min(begin + AsynchronousQuery.batch, candidates.count)
            begin = next.upperBound
            for item in try await handle.blocking({ try $0.objects(next, of: candidates) })
            where !run.isComplete {
                run.add(item, item.object)
            }
        }
        return run.finish()
    }
}

extension AsynchronousArchives: QueryComposing {
    /// Begins a query.
    public func adding(_ query: Query<Object>) -> AsynchronousQuery<Object> {
        AsynchronousQuery(handle: handle, queries: [query])
    }

    /// As ``ArchiveManager/process(queries:)``.
    public nonisolated(nonsending) func process(queries: [Query<Object>]) async throws -> [Object] {
        try await AsynchronousQuery(handle: handle, queries: queries).getResults()
    }
}
