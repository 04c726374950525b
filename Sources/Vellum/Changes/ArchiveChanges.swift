import Foundation
import StorageEngine

/// One thing that happened in an archive, by whatever process.
public struct ArchiveChange: Sendable, Hashable {
    /// What happened.
    public enum Kind: Sendable, Hashable {
        /// An object was stored, by ``ArchiveManager/record(_:)`` or ``ArchiveManager/update(_:)``.
        case recorded, updated
        /// A process took the object into its memory.
        case promoted
        /// An object is gone: the disk limit left no room for it, its lifetime was over, somebody deleted it.
        case evicted, expired, deleted
        /// An object was not stored, or a stored value could not be decoded.
        case rejected
        /// An object has another lifetime, or none.
        case lifetimeChanged
        /// What had been deleted or expired is back.
        case restored
        /// The limits of the archive changed.
        case resized
        /// This many changes were overwritten before they could be read: the archive keeps the last 2,048.
        case lost(Int)
    }

    /// What happened.
    public var kind: Kind
    /// `nil` for what is about no object, about all of them, or about one whose key isn't known any more. Of a key longer
    /// than 24 bytes perhaps its beginning only (``keyIsComplete``), when its object is gone.
    public var key: String?
    /// Whether ``key`` is the whole key.
    public var keyIsComplete: Bool
    /// Size of the encoded object.
    public var bytes: Int
    /// When it happened, right within some milliseconds.
    public var time: Date
    /// The process that did it.
    public var process: Int32
}

/// The changes of an archive from now on, as they happen in any process: `for await change in users.changes`.
///
/// All loops over the archives of a store share one thread of their own, and hold up none of the program's; while nothing
/// happens they cost nothing. One that is slower than the archive's writers is told how many changes it lost, and holds up
/// nobody. It ends when its task is cancelled or the archive is closed.
public struct ArchiveChanges: AsyncSequence, Sendable {
    /// What a loop gets.
    public typealias Element = ArchiveChange

    /// Begins to follow the archive as it is open now.
    let follow: @Sendable () throws -> EventSequence

    /// An iterator over what happens from now on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(events: (try? follow())?.makeAsyncIterator())
    }

    /// Follows the changes for one loop.
    public struct Iterator: AsyncIteratorProtocol {
        /// `nil`: there will be no more.
        private var events: EventSequence.Iterator?
        private var waiting: ArraySlice<ArchiveChange> = []

        init(events: EventSequence.Iterator?) { self.events = events }

        /// The next change, as soon as there is one; `nil` when the task is cancelled or the archive is closed.
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
    /// The changes of this archive, by whatever process, from when a loop over them begins.
    public var changes: ArchiveChanges {
        ArchiveChanges { [handle] in try handle.perform { try $0.archive.follow() } }
    }
}
