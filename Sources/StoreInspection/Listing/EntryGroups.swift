import ArchiveQuery
import StorageEngine

/// What the entries of a list are grouped by. A value; safe to share between threads.
package enum Grouping: Sendable, Hashable {
    /// The part of the key behind the beginning `below`, up to and with the next separator.
    case prefix(below: String, separator: UInt8)
    case owner
    /// What the value is: CBOR, JSON, text, a PNG image.
    case kind
    /// What the values have of a property, or the entries of their metadata.
    case property(QueryProperty)

    /// The separators that are looked for in keys; where two are equally frequent the first of them is taken.
    package static let separators = Array(":/|.#-_ ".utf8)

    /// `key up to ":"`, `owner`, `address.city`
    package var name: String {
        switch self {
        case .prefix(_, let separator): "key up to \"\(Character(UnicodeScalar(separator)))\""
        case .owner: "owner"
        case .kind: "kind of value"
        case .property(let property): property.columnName
        }
    }

    /// Whether keys are needed.
    package var needsKeys: Bool { if case .prefix = self { true } else { false } }
}

/// Entries that have something in common. A value; safe to share between threads.
package struct EntryGroup: Sendable, Hashable {
    package let membership: GroupMembership
    package private(set) var entries = 0
    /// Sum of the sizes of the values, in bytes.
    package private(set) var bytes: UInt64 = 0
    package private(set) var hits: UInt64 = 0
    /// When one of them was last accessed.
    package private(set) var accessed = Timestamp(microseconds: .min)

    init(_ membership: GroupMembership) { self.membership = membership }

    mutating func add(_ figures: (size: UInt32, hits: UInt32), accessed moment: Timestamp) {
        entries += 1
        bytes += UInt64(figures.size)
        hits += UInt64(figures.hits)
        accessed = max(accessed, moment)
    }

    /// How a person calls it.
    package var name: String { membership.name }

    /// Whether it can be divided further by the same separator.
    package var isDivisible: Bool { if case .prefix = membership { true } else { false } }
}

/// The columns of a table of groups, in the order in which they stand.
package enum GroupColumn: String, Sendable, Hashable, CaseIterable {
    case group, entries, bytes, hits, idle
}

/// A list's entries in groups. Immutable; safe to share between threads.
package struct EntryGroups: Sendable {
    package let listing: any EntryListing
    package let grouping: Grouping
    /// Unordered; see ``sorted(by:descending:)``.
    package private(set) var groups: [EntryGroup] = []
    /// Of each entry of the list the group, or -1.
    private var members: [Int32] = []
    /// Sum of the sizes of all that is grouped.
    package private(set) var bytes: UInt64 = 0
    package private(set) var entries = 0
    /// Entries that couldn't be read, and are in no group.
    package private(set) var unreadable = 0
    /// Entries of groups beyond the ``most`` that are kept, which are in none. The largest groups are kept, by entries and by
    /// bytes.
    package private(set) var ungrouped = 0

    /// About how many groups are kept, and bytes of what tells them apart.
    package static let most = 100_000
    private static let mostBytes = 64 << 20

    /// - Parameters:
    ///   - keys: all keys of the list, where ``Grouping/needsKeys`` says so.
    ///   - chosen: the entries to group; nil: all.
    ///   - checkpoint: hears the share done, 0 to 1, and may throw to stop. It begins anew where there are so many groups that
    ///     the large ones have to be found first.
    package init<Stop: Error>(
        _ listing: any EntryListing, keys: KeyIndex?, by grouping: Grouping, among chosen: Positions? = nil,
        now: Timestamp, checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) {
        self.listing = listing
        self.grouping = grouping
        let probe: ListingProbe? =
            if case .property(let property) = grouping {
                ListingProbe(listing, properties: [property], now: now)
            } else { nil }
        let rows = Rows(listing: listing, keys: keys, probe: probe, chosen: chosen)
        guard try collect(rows, checkpoint: checkpoint) == false else { return }
        var large = LargeGroups()
        for row in 0..<rows.count {
            if row % 1024 == 0 { try checkpoint(0.5 * Double(row) / Double(rows.count)) }
            let index = rows.index(row)
            guard let identity = identity(of: index, keys, probe) else { continue }
            large.add(identity.hashValue, bytes: listing.figures(at: index).size)
        }
        large.rank(EntryGroups.most / 2)
        _ = try collect(rows, large) { share throws(Stop) in try checkpoint(0.5 + 0.5 * share) }
    }

    /// What is grouped.
    private struct Rows {
        let listing: any EntryListing
        let keys: KeyIndex?
        let probe: ListingProbe?
        let chosen: Positions?

        var count: Int { chosen?.count ?? listing.count }
        func index(_ row: Int) -> Int { chosen?.index(atRow: row) ?? row }
    }

    /// Groups all rows. Without `large` it ends where there are too many groups, and returns `false`.
    private mutating func collect<Stop: Error>(
        _ rows: Rows, _ large: LargeGroups? = nil, checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) -> Bool {
        var numbers: [Identity: Int32] = [:]
        var bytesOfNames = 0
        (groups, entries, bytes, ungrouped, unreadable) = ([], 0, 0, 0, 0)
        if case .prefix = grouping { unreadable = rows.keys?.unreadable ?? 0 }
        let probe = rows.probe
        members = Array(repeating: -1, count: listing.count)
        for row in 0..<rows.count {
            if row % 1024 == 0 { try checkpoint(Double(row) / Double(rows.count)) }
            let index = rows.index(row)
            guard let identity = identity(of: index, rows.keys, probe) else { continue }
            let hasRoom = groups.count < EntryGroups.most && bytesOfNames < EntryGroups.mostBytes
            let number: Int32
            if let known = numbers[identity] {
                number = known
            } else if large?.keeps(identity.hashValue, hasRoom: hasRoom) ?? hasRoom {
                number = Int32(groups.count)
                groups.append(EntryGroup(membership(identity, index, probe)))
                numbers[identity] = number
                bytesOfNames += identity.bytes
            } else if large == nil {
                return false
            } else {
                ungrouped += 1
                continue
            }
            let figures = listing.figures(at: index)
            groups[Int(number)].add(figures, accessed: listing.accessed(at: index))
            members[index] = number
            entries += 1
            bytes += UInt64(figures.size)
        }
        if let probe { unreadable = probe.unreadable }
        return true
    }

    /// What tells a group from the others.
    private enum Identity: Hashable {
        case known(GroupMembership)
        case value(GroupKey)

        /// Approximate memory use beyond that of every group.
        var bytes: Int { if case .value(let key) = self { key.bytes } else { 0 } }
    }

    private func membership(_ identity: Identity, _ index: Int, _ probe: ListingProbe?) -> GroupMembership {
        switch identity {
        case .known(let membership): return membership
        case .value(let key):
            guard case .property(let property) = grouping else { return .kind("") }
            let shown: String
            if case .value(let text, _)? = probe?.shown(0, at: index) { shown = text } else { shown = "" }
            return .value(property, key, shown: shown)
        }
    }

    /// The group of an entry; `nil`: it isn't among those that are grouped.
    private mutating func identity(of index: Int, _ keys: KeyIndex?, _ probe: ListingProbe?) -> Identity? {
        switch grouping {
        case .prefix(let below, let separator):
            guard let key = keys?.key(at: index), !key.isEmpty, key.starts(with: below.utf8) else {
                return nil
            }
            guard let end = key.dropFirst(below.utf8.count).firstIndex(of: separator) else {
                return .known(.last(below: ExactText(below), separator: separator))
            }
            return .known(.prefix(ExactText(String(decoding: key[...end], as: UTF8.self))))
        case .owner:
            do throws(SourceError) {
                guard let entry = try listing.entry(at: index) else { return nil }
                return .known(.owner(entry.owner.map(ExactText.init)))
            } catch {
                unreadable += 1
                return nil
            }
        case .kind:
            do throws(SourceError) {
                guard let value = try listing.value(at: index) else {
                    if listing.terms(at: index).tier == .memory { unreadable += 1 }
                    return nil
                }
                return .known(.kind(ValueContent.kind(of: value.bytes, encoding: value.encoding)))
            } catch {
                unreadable += 1
                return nil
            }
        case .property: return probe?.groupKey(0, at: index).map(Identity.value)
        }
    }

    /// The numbers of the groups in order of a column; equal ones by name.
    package func sorted(by column: GroupColumn, descending: Bool) -> [Int] {
        groups.indices.sorted { left, right in
            let (a, b) = (groups[left], groups[right])
            let isLess: Bool?
            switch column {
            case .group: isLess = nil
            case .entries: isLess = a.entries == b.entries ? nil : a.entries < b.entries
            case .bytes: isLess = a.bytes == b.bytes ? nil : a.bytes < b.bytes
            case .hits: isLess = a.hits == b.hits ? nil : a.hits < b.hits
            // The longest idle was accessed first.
            case .idle: isLess = a.accessed == b.accessed ? nil : a.accessed > b.accessed
            }
            if let isLess { return isLess != descending }
            let isBefore = a.name.utf8.lexicographicallyPrecedes(b.name.utf8)
            return column == .group && descending ? !isBefore && a.name != b.name : isBefore
        }
    }

    /// The list's entries of a group, the most recent first.
    package func places(ofGroup number: Int) -> [Int] {
        members.indices.filter { members[$0] == Int32(number) }
    }
}

/// Tells large groups from small ones where there are more than can be kept. A value.
///
/// It sums up by hash. A group is at most as large as the sum of its hash, so the largest groups have the largest sums.
private struct LargeGroups {
    private static let sums = 1 << 19
    /// Of so many sums the groups are kept whether there is room or not.
    private static let always = 1_000

    private var entries = [UInt64](repeating: 0, count: sums)
    private var bytes = [UInt64](repeating: 0, count: sums)
    /// The least sums of groups that are kept, and those above which they are always.
    private var least: (entries: UInt64, bytes: UInt64) = (0, 0)
    private var always: (entries: UInt64, bytes: UInt64) = (0, 0)

    mutating func add(_ hash: Int, bytes size: UInt32) {
        entries[hash & (LargeGroups.sums - 1)] += 1
        bytes[hash & (LargeGroups.sums - 1)] += UInt64(size)
    }

    /// Decides that the groups of about the `count` largest sums are kept, if there is room.
    mutating func rank(_ count: Int) {
        func ranked(_ sums: [UInt64]) -> (least: UInt64, always: UInt64) {
            let sorted = sums.sorted(by: >)
            return (max(1, sorted[min(count / 2, sums.count - 1)]), sorted[LargeGroups.always])
        }
        let (byEntries, byBytes) = (ranked(entries), ranked(bytes))
        least = (byEntries.least, byBytes.least)
        always = (byEntries.always, byBytes.always)
    }

    func keeps(_ hash: Int, hasRoom: Bool) -> Bool {
        let (entries, bytes) = (entries[hash & (LargeGroups.sums - 1)], bytes[hash & (LargeGroups.sums - 1)])
        if entries > always.entries || bytes > always.bytes { return true }
        return hasRoom && (entries >= least.entries || bytes >= least.bytes)
    }
}

extension KeyIndex {
    /// The separator that most keys have behind a beginning; `nil`: none has any.
    package func separator(below: String = "") -> UInt8? {
        var counts = [Int](repeating: 0, count: Grouping.separators.count)
        let length = below.utf8.count
        // A sample is enough to tell what is common.
        let step = max(1, count / 20_000)
        for index in stride(from: 0, to: count, by: step) {
            let key = key(at: index)
            guard key.starts(with: below.utf8) else { continue }
            let rest = key.dropFirst(length)
            for (place, separator) in Grouping.separators.enumerated() where rest.contains(separator) {
                counts[place] += 1
            }
        }
        guard let most = counts.max(), most > 0, let place = counts.firstIndex(of: most) else { return nil }
        return Grouping.separators[place]
    }
}
