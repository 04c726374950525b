/// A query with throwing results: `try users.throwing.findWhere { $0.age(.less(than: 30)) }.getResults()`.
/// Otherwise like a ``QueryBuilder``.
public struct ThrowingQuery<Archive: Archivable>: QueryComposing {
    let handle: ArchiveHandle<Archive>
    /// The steps so far.
    public let queries: [Query<Archive>]

    /// The same with another step.
    public func adding(_ query: Query<Archive>) -> ThrowingQuery {
        ThrowingQuery(handle: handle, queries: queries + [query])
    }

    /// As ``QueryBuilder/getResults()``.
    public func getResults() throws -> [Archive] { try handle.perform { try $0.process(queries) } }

    /// As ``QueryBuilder/firstResult()``.
    public func firstResult() throws -> Archive? { try limitResults(by: 1).getResults().first }

    /// As ``QueryBuilder/lastResult()``.
    public func lastResult() throws -> Archive? { try getResults().last }

    /// As ``QueryBuilder/count()``.
    public func count() throws -> Int { try handle.perform { try $0.seen(by: queries).count } }

    /// As ``QueryBuilder/deleteResults()``.
    @discardableResult
    public func deleteResults() throws -> Int { try handle.perform { try $0.deleteResults(of: queries) } }

    /// How the query is carried out.
    public func explain() throws -> QueryExplanation {
        try handle.perform { try $0.explanation(of: queries) }
    }
}

extension ThrowingArchives: QueryComposing {
    /// Begins a query.
    public func adding(_ query: Query<Archive>) -> ThrowingQuery<Archive> {
        ThrowingQuery(handle: handle, queries: [query])
    }
}

/// A query for asynchronous code: `try await users.asynchronous.findWhere { $0.age(.less(than: 30))
/// }.getResults()`. Otherwise like a ``QueryBuilder``.
///
/// Objects are read on another thread, some hundred at a time, and tested on the caller's actor, so that closures
/// may use its state. An object that changes while the query runs is tested in its state when it is read.
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

    private nonisolated(nonsending) func seen() async throws -> [ArchiveCore<Archive>.Seen] {
        var run = RunningQuery<ArchiveCore<Archive>.Seen, Archive>(queries)
        guard !run.isComplete else { return [] }
        let predicate = try handle.perform { try $0.encodedPredicate(of: queries) }
        var names = try await handle.elsewhere { try $0.names(meeting: predicate) }[...]
        while !names.isEmpty, !run.isComplete {
            try Task.checkCancellation()
            let next = Array(names.prefix(AsynchronousQuery.batch))
            names = names.dropFirst(next.count)
            for item in try await handle.elsewhere({ try $0.objects(named: next) }) where !run.isComplete {
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
}
