/// Identity and state of an archive: other limits, and entries that were stored, changed, deleted or evicted result in another
/// version. Accesses and expired entries don't: a copy has the same expiry times.
package struct ArchiveVersion: Sendable, Hashable {
    /// An archive recreated under the same name has another identity.
    let identity: [UInt8]
    let nextEvent: UInt64
    /// Events of a rebuilt index are renumbered; operations never are.
    let sequence: UInt64
    let configuration: ArchiveConfiguration
}

extension ArchiveEngine {
    func version() throws(StorageError) -> ArchiveVersion {
        let configuration = try Descriptor.read(in: folder).configuration
        return ArchiveVersion(
            identity: log.identity, nextEvent: index.events.head, sequence: index.sequence,
            configuration: configuration)
    }

    func isStill(_ old: ArchiveVersion) throws(StorageError) -> Bool {
        let present = try version()
        guard present.identity == old.identity, present.configuration == old.configuration else {
            return false
        }
        guard present.nextEvent != old.nextEvent else { return present.sequence == old.sequence }
        let since = events(from: old.nextEvent)
        return since.lost == 0 && since.next == present.nextEvent
            && since.events.allSatisfy { $0.kind == .expiry && $0.cause == .deadline }
    }
}
