/// Identity and state of an archive: other limits, and entries that were stored, changed, deleted or evicted result in another
/// version. Accesses and expired entries don't: a copy has the same expiry times.
package struct ArchiveVersion: Sendable, Hashable {
    /// An archive recreated under the same name has another identity.
    let identity: [UInt8]
    let nextEvent: UInt64
    /// Events of a rebuilt index are renumbered; operations never are.
    let sequence: UInt64
    /// Marks this index: one that is rebuilt has another.
    let salt: UInt64
    /// Entries of this index with a lower recency have not been stored since.
    let recency: UInt64
    let configuration: ArchiveConfiguration

    init(of engine: ArchiveEngine) throws(StorageError) {
        configuration = try Descriptor.read(in: engine.folder).configuration
        identity = engine.log.identity
        nextEvent = engine.index.events.head
        salt = engine.index.salt
        recency = engine.index.touches.taken
        sequence = engine.index.sequence
    }

    /// Whether certainly no entry was stored since.
    func includesAllEntries(of engine: ArchiveEngine) -> Bool {
        let since = EventReader(engine).events(from: nextEvent)
        return since.lost == 0 && !since.events.contains { $0.kind == .record || $0.kind == .update }
    }

    func isCurrent(in engine: ArchiveEngine) throws(StorageError) -> Bool {
        let present = try ArchiveVersion(of: engine)
        guard present.identity == identity, present.configuration == configuration else { return false }
        guard present.nextEvent != nextEvent else { return present.sequence == sequence }
        let since = EventReader(engine).events(from: nextEvent)
        return since.lost == 0 && since.next == present.nextEvent
            && since.events.allSatisfy { $0.kind == .expiry && $0.cause == .deadline }
    }
}
