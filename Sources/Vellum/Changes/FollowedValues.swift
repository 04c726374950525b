import StorageEngine

/// A value that follows an archive's changes by any process: `for await user in users.values(forKey: "ada")`.
///
/// It begins with the current state, and continues with the state after each change. Changes that are faster than the
/// loop are combined, and the last one is never missed: the loop's latest value is the current one until the next
/// change. Following doesn't count as an access and, like ``ArchiveChanges``, costs nothing without changes. An expiry
/// is reported when the entry is removed, which may be some seconds later.
///
/// It continues when the store is removed and recreated, and ends when its task is cancelled or the program closes the
/// factory. A failed reading is logged and retried after a second.
public struct FollowedValues<Element>: AsyncSequence, Sendable {
    let source: FollowedSource<Element>

    /// An iterator that begins with the current state.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// Follows the value for one loop.
    public struct Iterator: AsyncIteratorProtocol {
        private let source: FollowedSource<Element>
        /// `nil` before following begins and after it ended.
        private var events: EventSequence.Iterator?
        private var latest: [SeenEntry]?

        init(source: FollowedSource<Element>) { self.source = source }

        /// Waits for the next state. `nil` when the task is cancelled or the factory closed.
        public mutating func next() async -> Element? { await next(isolation: nil) }

        /// Like ``next()``, for callers that are isolated to `actor`.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            while !Task.isCancelled {
                do {
                    guard try await waitForChange(isolation: actor) else { continue }
                    let now = try await source.read()
                    // Without a sequence number it is unknown whether the value has changed.
                    if let latest, latest == now.versions, !latest.contains(where: { $0.sequence == 0 }) {
                        continue
                    }
                    latest = now.versions
                    return now.value
                } catch {
                    events = nil
                    if source.isClosed() || Task.isCancelled { return nil }
                    // The archive was removed. Read the one that replaces it, whose sequence numbers restart.
                    if case .closed = error as? StorageError {
                        latest = nil
                        continue
                    }
                    source.log(error)
                    try? await Task.sleep(for: .seconds(1))
                }
            }
            return nil
        }

        private mutating func waitForChange(isolation actor: isolated (any Actor)?) async throws -> Bool {
            guard events != nil else {
                events = try source.follow().makeAsyncIterator()
                return true
            }
            let batch = try await events?.next(isolation: actor)
            guard let batch = batch ?? nil else { return false }
            return batch.lost > 0 || batch.events.contains(where: source.isChange)
        }
    }
}

/// A value that was read for one follower, and is used only there.
struct Standing<Value>: @unchecked Sendable {
    var value: Value
    var versions: [SeenEntry]
}

struct FollowedSource<Value>: Sendable {
    let follow: @Sendable () throws -> EventSequence
    let isChange: @Sendable (ArchiveEvent) -> Bool
    let read: @Sendable () async throws -> Standing<Value>
    let isClosed: @Sendable () -> Bool
    let log: @Sendable (any Error) -> Void
}

extension ArchiveHandle {
    private func followed<Value>(
        _ subject: String?, isChange: @escaping @Sendable (ArchiveEvent) -> Bool,
        _ read: @escaping @Sendable (ArchiveCore<Object>) throws -> Standing<Value>
    ) -> FollowedValues<Value> {
        FollowedValues(
            source: FollowedSource(
                follow: { try self.perform { try $0.archive.follow() } }, isChange: isChange,
                read: { try await self.blocking(read) },
                isClosed: { self.shared.factory.isClosed },
                log: { self.log("follow", subject, $0) }))
    }

    func values<Part>(
        forKey name: String, _ part: @escaping @Sendable (Object) -> Part
    ) -> FollowedValues<Part?> {
        followed(name, isChange: { $0.kind.affectsLookUps && $0.isAbout(name) }) { core in
            let seen = try core.objects(named: [name]).first
            return Standing(
                value: seen.map { part($0.object) },
                versions: [SeenEntry(key: name, sequence: seen?.sequence)])
        }
    }

    func values(of queries: [Query<Object>]) -> FollowedValues<[Object]> {
        let queries = CarriedQueries(queries: queries)
        return followed(nil, isChange: \.kind.affectsLookUps) { core in
            let seen = try core.seen(by: queries.queries)
            return Standing(
                value: seen.map(\.object),
                versions: seen.map { SeenEntry(key: $0.name, sequence: $0.sequence) })
        }
    }
}

extension ArchiveManager {
    /// The object with this key, now and after each change by any process; `nil` while absent.
    @_disfavoredOverload
    public func values(forKey key: String) -> FollowedValues<Object?> { handle.values(forKey: key) { $0 } }

    /// The queries' results, now and after each change that may affect them. Each reading costs as much as
    /// ``countResults(of:)``. Closures in conditions are called on another thread.
    public func values(of queries: [Query<Object>]) -> FollowedValues<[Object]> { handle.values(of: queries) }
}

extension QueryBuilder {
    /// As ``ArchiveManager/values(of:)``: `for await adults in users.where(\.age >= 18).values()`.
    public func values<Object>() -> FollowedValues<[Object]> where Queriable == ArchiveManager<Object> {
        archives.values(of: queries)
    }
}
