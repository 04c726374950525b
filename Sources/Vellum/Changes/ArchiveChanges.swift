import Foundation
import StorageEngine

/// A change of an archive, by any process.
public struct ArchiveChange: Sendable, Hashable {
    /// What happened.
    public enum Kind: Sendable, Hashable {
        /// An object was stored, by ``ArchiveManager/record(_:)`` or ``ArchiveManager/update(_:)``.
        case recorded, updated
        /// A process loaded the object into its memory.
        case promoted
        /// An object was removed: to keep the disk limit, because its lifetime ended, or by a deletion.
        case evicted, expired, deleted
        /// An object was not stored, or a stored value could not be decoded.
        case rejected
        /// The lifetime of an object was set or removed.
        case lifetimeChanged
        /// A deletion or expiry was undone.
        case restored
        /// The limits of the archive changed.
        case resized
        /// This many changes were overwritten before they could be read: the archive keeps the last 2,048.
        case lost(Int)
    }

    /// What happened.
    public var kind: Kind
    /// The key; `nil` if the change concerns no object or all objects, or if it is no longer known. After a removal, a
    /// key of more than 24 bytes may be cut off (``keyIsComplete``).
    public var key: String?
    /// Whether ``key`` is the whole key.
    public var keyIsComplete: Bool
    /// Size of the encoded object, in bytes.
    public var bytes: Int
    /// When it happened, to within some milliseconds.
    public var time: Date
    /// ID of the process that made the change.
    public var process: Int32
}

/// The changes of an archive by any process, from now on: `for await change in users.changes`.
///
/// All loops over a store's archives share one thread. They block no other thread, and cost nothing without changes. A
/// loop that is slower than the archive's writers doesn't delay them, and gets the number of missed changes. The loop
/// ends when its task is cancelled or the archive is closed.
public struct ArchiveChanges: AsyncSequence, Sendable {
    /// A change, or a number of lost ones.
    public typealias Element = ArchiveChange

    let follow: @Sendable () throws -> EventSequence

    /// An iterator over the changes from now on.
    public func makeAsyncIterator() -> Iterator { Iterator(events: (try? follow())?.makeAsyncIterator()) }

    /// Follows the changes for one loop.
    public struct Iterator: AsyncIteratorProtocol {
        /// `nil` once following has ended.
        private var events: EventSequence.Iterator?
        private var waiting: ArraySlice<ArchiveChange> = []

        init(events: EventSequence.Iterator?) { self.events = events }

        /// Waits for the next change. `nil` when the task is cancelled or the archive is closed.
        public mutating func next() async -> ArchiveChange? {
            while waiting.isEmpty {
                guard let batch = (try? await events?.next()) ?? nil else { return nil }
                waiting = batch.events.compactMap(ArchiveChange.init)[...]
                if batch.lost > 0 { waiting.insert(ArchiveChange(lost: Int(clamping: batch.lost)), at: 0) }
            }
            return waiting.popFirst()
        }
    }
}

extension ArchiveChange {
    init(lost count: Int) {
        self.init(kind: .lost(count), key: nil, keyIsComplete: false, bytes: 0, time: Date(), process: 0)
    }

    init?(_ event: ArchiveEvent) {
        let kind: Kind
        switch event.kind {
        case .record: kind = .recorded
        case .update: kind = .updated
        case .promotion: kind = .promoted
        case .eviction: kind = .evicted
        case .expiry: kind = .expired
        case .delete: kind = .deleted
        case .rejection: kind = .rejected
        case .deadline: kind = .lifetimeChanged
        case .restore: kind = .restored
        case .resize: kind = .resized
        case .append: return nil
        }
        self.init(
            kind: kind, key: event.key, keyIsComplete: event.keyIsComplete, bytes: event.bytes,
            time: Date(timeIntervalSince1970: event.time.secondsSince1970), process: event.pid)
    }
}

extension ArchiveManager {
    /// The changes of this archive by any process, from the start of a loop on.
    public var changes: ArchiveChanges {
        ArchiveChanges { [handle] in try handle.perform { try $0.archive.follow() } }
    }
}
