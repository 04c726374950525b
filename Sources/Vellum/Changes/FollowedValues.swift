import StorageEngine

/// A value that follows what happens in an archive, in any process: `for await user in users.values(forKey: "ada")`.
///
/// It begins with how things stand now, and goes on with how they stand after each change. Changes that come faster than the loop
/// takes them are taken together, and the last one is never missed: what the loop had last is what there is, until that
/// changes. Nothing has to be done about gaps. Leaves no trace in the archive, and costs what ``ArchiveChanges`` does: while
/// nothing happens, nothing.
///
/// Of what expires it hears when that is removed, which may be some seconds later.
///
/// It goes on when the store is removed and made anew, and ends when its task is cancelled or the program closes the factory.
/// What can't be read is logged, and tried again after a second.
public struct FollowedValues<Element>: AsyncSequence, Sendable {
    let source: FollowedSource<Element>

    /// An iterator that begins with how things stand.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// Follows the value for one loop.
    public struct Iterator: AsyncIteratorProtocol {
        private let source: FollowedSource<Element>
        /// `nil`: nothing is followed yet, or not any more.
        private var events: EventSequence.Iterator?
        /// What was returned last.
        private var latest: [SeenEntry]?

        init(source: FollowedSource<Element>) { self.source = source }

        /// How things stand, as soon as that is news; `nil` when the task is cancelled or the factory closed.
        public mutating func next() async -> Element? { await next(isolation: nil) }

        /// The same for the actor of its caller.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            while !Task.isCancelled {
                do {
                    guard try await waitForNews(isolation: actor) else { continue }
                    let now = try await source.read().value
                    // What isn't numbered may be another.
                    if let latest, latest == now.versions, !latest.contains(where: { $0.sequence == 0 }) {
                        continue
                    }
                    latest = now.versions
                    return now.value
                } catch {
                    events = nil
                    if source.isClosed() || Task.isCancelled { return nil }
                    // Removed: how things stand is to be found out in the archive that is made in its place, whose numbers
                    // begin anew.
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

        /// Whether there may be something to read. Following begins before the first reading, so that nothing comes between.
        private mutating func waitForNews(isolation actor: isolated (any Actor)?) async throws -> Bool {
            guard events != nil else {
                events = try source.follow().makeAsyncIterator()
                return true
            }
            let batch = try await events?.next(isolation: actor)
            guard let batch = batch ?? nil else { return false }
            return batch.lost > 0 || batch.events.contains(where: source.isNews)
        }
    }
}

/// How things stand, and with which versions of which entries.
struct Standing<Value>: @unchecked Sendable {
    var value: Value
    var versions: [SeenEntry]
}

/// What is followed, and how it is read.
struct FollowedSource<Value>: Sendable {
    let follow: @Sendable () throws -> EventSequence
    let isNews: @Sendable (ArchiveEvent) -> Bool
    let read: @Sendable () async throws -> FollowedReading<Value>
    let isClosed: @Sendable () -> Bool
    let log: @Sendable (any Error) -> Void
}

/// What was read goes to who follows, and to nobody else.
struct FollowedReading<Value>: @unchecked Sendable {
    let value: Standing<Value>
}

extension ArchiveEvent {
    /// Whether what is found under some key may be another after it.
    fileprivate var changesObjects: Bool {
        switch kind {
        case .record, .update, .eviction, .expiry, .delete, .restore: true
        case .promotion, .rejection, .deadline, .append, .resize: false
        }
    }

    /// Whether it may be about that key.
    fileprivate func isAbout(_ name: String) -> Bool {
        guard let key else { return true }
        return keyIsComplete ? key.utf8.elementsEqual(name.utf8) : name.utf8.starts(with: key.utf8)
    }
}

extension ArchiveHandle {
    private func followed<Value>(
        _ subject: String?, isNews: @escaping @Sendable (ArchiveEvent) -> Bool,
        _ read: @escaping @Sendable (ArchiveCore<Object>) throws -> Standing<Value>
    ) -> FollowedValues<Value> {
        FollowedValues(
            source: FollowedSource(
                follow: { try self.perform { try $0.archive.follow() } }, isNews: isNews,
                read: { FollowedReading(value: try await self.elsewhere(read)) },
                isClosed: { self.shared.factory.isClosed },
                log: { self.log("follow", subject, $0) }))
    }

    /// `part`: what of the object is followed.
    func values<Part>(
        forKey name: String, _ part: @escaping @Sendable (Object) -> Part
    ) -> FollowedValues<Part?> {
        followed(name, isNews: { $0.changesObjects && $0.isAbout(name) }) { core in
            let seen = try core.objects(named: [name]).first
            return Standing(
                value: seen.map { part($0.object) },
                versions: [SeenEntry(key: name, sequence: seen?.sequence)])
        }
    }

    func values(of queries: [Query<Object>]) -> FollowedValues<[Object]> {
        let queries = CarriedQueries(queries: queries)
        return followed(nil, isNews: \.changesObjects) { core in
            let seen = try core.seen(by: queries.queries)
            return Standing(
                value: seen.map(\.object),
                versions: seen.map { SeenEntry(key: $0.name, sequence: $0.sequence) })
        }
    }
}

extension ArchiveManager {
    /// The object of a key as it stands now, and after each change by whatever process; `nil` while there is none.
    @_disfavoredOverload
    public func values(forKey key: String) -> FollowedValues<Archive?> { handle.values(forKey: key) { $0 } }

    /// What the queries leave, as things stand now and after each change of the archive that may change that. Each reading costs
    /// what ``countResults(of:)`` does. Conditions that are closures are called on another thread.
    public func values(of queries: [Query<Archive>]) -> FollowedValues<[Archive]> {
        handle.values(of: queries)
    }
}

extension QueryBuilder {
    /// The results as things stand now, and after each change of the archive that may change them:
    /// `for await adults in users.where(\.age >= 18).values()`. As ``ArchiveManager/values(of:)``.
    public func values<Archive>() -> FollowedValues<[Archive]> where Queriable == ArchiveManager<Archive> {
        archives.values(of: queries)
    }
}
