/// The events of an archive as they happen, in any process, batch by batch: `for try await batch in try archive.follow()`.
///
/// All sequences of a store share one thread of their own, and none of the program's; while nothing happens they cost
/// nothing. In a process that has the archive open for writing an event arrives within some milliseconds; an observer,
/// which leaves no trace, looks twenty times a second. An iterator keeps nothing: one that is slower than the writers by
/// more than the ring's 2,048 events learns how many it lost (``EventBatch/lost``), and holds up nobody.
///
/// It ends without an error when its task is cancelled, and with `closed` when the archive or its store is closed or
/// removed.
public struct EventSequence: AsyncSequence, Sendable {
    public typealias Element = EventBatch
    public typealias Failure = StorageError

    let archive: Archive
    let first: UInt64

    public func makeAsyncIterator() -> Iterator { Iterator(archive: archive, position: first) }

    /// Follows the events for one task.
    public struct Iterator: AsyncIteratorProtocol {
        let archive: Archive
        /// The event to ask for; `nil`: there will be no more.
        private var position: UInt64?

        init(archive: Archive, position: UInt64) {
            self.archive = archive
            self.position = position
        }

        public mutating func next() async throws(StorageError) -> EventBatch? {
            guard let first = begin() else { return nil }
            return end(try await archive.follower.events(of: archive, from: first))
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(StorageError) -> EventBatch? {
            guard let first = begin() else { return nil }
            return end(try await archive.follower.events(of: archive, from: first))
        }

        /// As ``next()`` for who wants to know of changes of some keys only: the task sleeps through all others. What is returned
        /// has such a change in it, or lost events; what came before it is passed over.
        package mutating func next(concerning interest: KeyInterest?) async throws(StorageError)
            -> EventBatch?
        {
            guard let first = begin() else { return nil }
            return end(try await archive.follower.events(of: archive, from: first, concerning: interest))
        }

        /// Unless it ends well, this was the last.
        private mutating func begin() -> UInt64? {
            defer { position = nil }
            return position
        }

        private mutating func end(_ batch: EventBatch?) -> EventBatch? {
            position = batch?.next
            return batch
        }
    }
}

extension Archive {
    /// The events from `sequence` on (`nil`: from now on), as they happen. Leaves no trace. Each iteration begins there.
    /// - Throws: `closed`. The iteration throws `closed` too, and `system` if its thread can't be started.
    public func follow(from sequence: UInt64? = nil) throws(StorageError) -> EventSequence {
        let next = try nextEvent()
        return EventSequence(archive: self, first: sequence ?? next)
    }

    /// For tests: whether the thread that follows the store is there, and how many wait for it.
    package var followers: (isActive: Bool, waiting: Int) { (follower.isActive, follower.waiting) }
}
