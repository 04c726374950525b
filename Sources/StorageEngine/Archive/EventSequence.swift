/// The events of an archive as they happen, in any process, batch by batch:
/// `for try await batch in try archive.follow()`.
///
/// All sequences of a store share one thread, apart from the program's, and cost nothing without events. In a process that has
/// the archive open for writing an event arrives within some milliseconds; an observer, which writes nothing, polls twenty times
/// a second. An iterator has no buffer: if it lags by more than the ring's 2,048 events it gets the number of lost ones
/// (``EventBatch/lost``). It never delays writers or other followers.
///
/// It ends without an error when its task is cancelled, and throws `closed` when the archive or its store is closed or
/// removed.
public struct EventSequence: AsyncSequence, Sendable {
    /// A batch with at least one event, or with a count of lost ones.
    public typealias Element = EventBatch
    /// The iteration throws `closed`, and `system` if its thread can't be started.
    public typealias Failure = StorageError

    let archive: Archive
    let first: UInt64

    /// Makes an iterator that begins where the sequence does.
    public func makeAsyncIterator() -> Iterator { Iterator(archive: archive, position: first) }

    /// Follows the events for one task.
    public struct Iterator: AsyncIteratorProtocol {
        let archive: Archive
        private var position: UInt64?

        init(archive: Archive, position: UInt64) {
            self.archive = archive
            self.position = position
        }

        /// Waits for the next events; `nil` when the task is cancelled. Throws `closed`; `system` if the thread can't
        /// be started. The iteration ends with the error.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(StorageError) -> EventBatch? {
            guard let first = begin() else { return nil }
            return end(try await archive.follower.events(of: archive, from: first))
        }

        /// Like ``next(isolation:)``, for some keys: others don't wake the task, and batches without these or lost events are skipped.
        package mutating func next(concerning interest: KeyInterest?) async throws(StorageError)
            -> EventBatch?
        {
            guard let first = begin() else { return nil }
            return end(try await archive.follower.events(of: archive, from: first, concerning: interest))
        }

        /// The next event number. Unless ``end(_:)`` sets another one, the iteration has ended.
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
