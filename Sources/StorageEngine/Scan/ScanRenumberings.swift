import Synchronization

/// What twins of a walk agree on after the index shrank and renumbered entries: one of them visits each once. Sendable.
final class ScanRenumberings: Sendable {
    /// The archive's count of renumberings before the items were looked up.
    let before: UInt64
    private let items: [ScanItem]

    private struct Claims {
        /// Entries that have an item of their own; only needed after a renumbering.
        var own: Set<ScanEntry>?
        /// Numbers of entries that were found under a new number.
        var found: Set<UInt32> = []
    }

    /// Guards itself.
    private let claims = Mutex(Claims())

    init(before: UInt64, items: [ScanItem]) {
        self.before = before
        self.items = items
    }

    /// Whether who asks is to visit the entry under its new number: it has no item, and nobody else has asked.
    func claim(_ entry: ScanEntry) -> Bool {
        claims.withLock { claims in
            let own = claims.own ?? Set(items.map { ScanEntry(number: $0.number, tag: $0.tag) })
            claims.own = own
            return !own.contains(entry) && claims.found.insert(entry.number).inserted
        }
    }
}
