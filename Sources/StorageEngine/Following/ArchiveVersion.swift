/// Identity and state of an archive. Changed limits, and entries that are stored, changed, deleted or evicted, change the
/// version. Accesses and expirations don't, because a copy's entries expire at the same times.
package struct ArchiveVersion: Sendable, Hashable {
    /// An archive recreated under the same name has another identity.
    let identity: [UInt8]
    let nextEvent: UInt64
    /// Events of a rebuilt index are renumbered; operations never are.
    let sequence: UInt64
    /// Identifies this index: a rebuilt index has another salt.
    let salt: UInt64
    /// Entries with a lower recency have not been stored since.
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
