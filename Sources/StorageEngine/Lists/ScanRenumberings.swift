import Synchronization

/// State that the scans of one snapshot share: after the index shrank, only one scan visits each renumbered entry.
final class ScanRenumberings: Sendable {
    let before: UInt64
    private let items: [ScanItem]

    private struct Claims {
        /// Entries with a separate item; only needed after a renumbering.
        var own: Set<ScanEntry>?
        var found: Set<UInt32> = []
    }

    private let claims = Mutex(Claims())

    init(before: UInt64, items: [ScanItem]) {
        self.before = before
        self.items = items
    }

    /// Whether the caller must visit the entry under its new number: the entry has no item, and no other scan has claimed it.
    func claim(_ entry: ScanEntry) -> Bool {
        claims.withLock { claims in
            let own = claims.own ?? Set(items.map { ScanEntry(number: $0.number, tag: $0.tag) })
            claims.own = own
            return !own.contains(entry) && claims.found.insert(entry.number).inserted
        }
    }
}
