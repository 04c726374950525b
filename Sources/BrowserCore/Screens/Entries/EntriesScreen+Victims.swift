import StorageEngine
import StoreInspection

extension EntriesScreen {
    /// Moves to the first entry to be evicted or, from such an entry, to the next one.
    static func moveToVictim(_ model: inout Model) -> [Effect] {
        guard let entries = model.entries, let arrangement = entries.arrangement else { return [] }
        let victims = arrangement.victims
        func rank(_ row: Int) -> Int? { victims.rank(of: arrangement.rows.index(atRow: row)) }
        let all = (0..<entries.count).compactMap { row in rank(row).map { (rank: $0, row: row) } }
        let rows = all.filter { $0.row != entries.cursor && entries.isVictim(row: $0.row) }.sorted(by: <)
        let hidden = arrangement.isFiltered ? victims.indices.count - all.count : 0
        if hidden > 0 {
            model.say(
                hidingText(entries, model, hides: "\(Figures.count(hidden)) of the next victims"), seconds: 6)
        } else if rows.isEmpty {
            model.say(
                victims.indices.isEmpty
                    ? noVictim(entries.archive, arrangement.listing, model)
                    : "No further entry is evicted next.", seconds: 6)
        }
        let present = entries.isVictim(row: entries.cursor) ? rank(entries.cursor) : nil
        let later = present.flatMap { present in rows.first { $0.rank > present } }
        return (later ?? rows.first).map { move(&model, to: $0.row) } ?? []
    }

    /// A message: the filter, condition or group that hides some entries, and the key that clears it.
    private static func hidingText(_ entries: EntriesState, _ model: Model, hides what: String) -> String {
        let key = Browser.keyName(model, .clear)
        if !entries.filter.isEmpty { return "The filter hides \(what); \(key) clears it." }
        return entries.condition == nil
            ? "The group doesn't contain \(what)." : "The condition hides \(what); \(key) clears it."
    }

    /// Lists the keys of a server that can be evicted, in the order of its policy if it has one, or moves to the next one. A
    /// condition of the user stays in force. Nil for a store, and if all keys are equally likely or none can be evicted.
    static func showLikelyVictims(_ model: inout Model) -> [Effect]? {
        guard let server = model.archives.figures?.server, server.memoryLimit != nil,
            let entries = model.entries, server.hasEvictableKeys,
            server.evictionOrder != nil || server.evictsOnlyExpiring
        else { return nil }
        let order = server.evictionOrder?.keys ?? .found
        let own = entries.ownCondition
        let expiring = "@ttl > 0s"
        let condition =
            server.evictsOnlyExpiring
            ? try? EntryCondition(own.map { "(\($0.text)) and \(expiring)" } ?? expiring) : own
        let isShown = entries.order == order && entries.condition == condition
        // Unknown metadata is read for a new list, which is shown as it grows. A paused list is read once, when the order is
        // chosen.
        let isKnown = isShown || entries.arrangement?.listing.knowsFigures == true
        let isNew =
            model.pausedSince == nil
            ? !isKnown || isOlder(entries, EntriesState.oldList.victims, model) : !isShown
        var said = "Reading all keys"
        if !isNew, let shown = entries.arrangement, shown.listing.knowsFigures {
            said = "Read \(Figures.duration(max(0, model.now.seconds(since: shown.made)))) ago"
        }
        let chosen = server.evictionOrder.map { "the \($0.first) of some sampled ones" }
        said += ": \(server.policy) evicts \(chosen ?? "keys with an expiry time, each equally likely")."
        if !entries.filter.isEmpty || own != nil || entries.group != nil {
            said = hidingText(entries, model, hides: "other keys, which may be evicted first")
        }
        model.say(said, seconds: 10)
        if isShown, !isNew { return Browser.move(&model, by: 1) }
        let purpose = order.needsFigures ? "Sorting by \(order.name)" : "Finding keys that expire"
        return readingMetadata(&model, for: purpose, ofNewList: isNew) { model in
            model.entries?.order = order
            model.entries?.condition = condition
            model.entries?.victims = (order, condition, own)
            toTop(&model)
            return rearrange(&model, takingListing: isNew, isForced: true)
        }
    }

    private static func noVictim(_ archive: ArchiveAddress, _ listing: any EntryListing, _ model: Model)
        -> String
    {
        if let server = model.archives.figures?.server {
            let limit = server.memoryLimit == nil ? "no maxmemory" : "the policy \(server.policy)"
            let evicts = server.memoryLimit != nil && server.policy != "noeviction"
            if evicts, !server.hasEvictableKeys {
                return "Nothing can be evicted: \(server.policy) evicts only keys that expire, and none does."
            }
            return evicts
                ? "Each key is equally likely to be evicted: the server has \(limit)."
                : "Nothing is evicted: the server has \(limit)."
        }
        let sample = model.sample(archive)
        let used = sample?.diskLimit.map {
            "\(Figures.bytes(listing.valueBytes)) of \(Figures.bytes($0)) used"
        }
        let isCollection = sample?.kind == .collection
        let reason =
            isCollection ? "\(archive.name) is a collection" : used ?? "\(archive.name) has no disk limit"
        return "Nothing is evicted: \(reason)."
    }
}
