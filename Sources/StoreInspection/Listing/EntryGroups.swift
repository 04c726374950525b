import ArchiveQuery
import StorageEngine

package enum Grouping: Sendable, Hashable {
    /// The part of the key after the prefix `below`, up to and including the next separator.
    case prefix(below: String, separator: UInt8)
    case owner
    /// The format of the value: CBOR, JSON, text, a PNG image.
    case kind
    case property(QueryProperty)

    /// Recognized separators. If several are equally frequent, the first one is used.
    package static let separators = Array(":/|.#-_ ".utf8)

    /// `prefix up to ":"`, `owner`, `address.city`
    package var name: String {
        switch self {
        case .prefix(_, let separator): "prefix up to \"\(Character(UnicodeScalar(separator)))\""
        case .owner: "owner"
        case .kind: "kind of value"
        // In the query language `a.b` and `"a.b"` are two properties.
        case .property(let property): property.description
        }
    }

    /// `98 prefixes up to "/"`, `3 groups by owner`
    package func title(of count: Int) -> String {
        guard case .prefix = self else { return "\(Figures.count(count, "group", "groups")) by \(name)" }
        return Figures.count(count, "prefix", "prefixes") + name.dropFirst("prefix".count)
    }

    package var readsValues: Bool {
        if case .property(let property) = self { !property.isMetadata } else { self == .kind }
    }

    package var needsKeys: Bool { if case .prefix = self { true } else { false } }
}

package struct EntryGroup: Sendable, Hashable {
    package let membership: GroupMembership
    package private(set) var entries = 0
    package private(set) var bytes: UInt64 = 0
    package private(set) var hits: UInt64 = 0
    package private(set) var accessed = Timestamp(microseconds: .min)

    init(_ membership: GroupMembership) { self.membership = membership }

    mutating func add(_ figures: (size: UInt64, hits: UInt32), accessed moment: Timestamp) {
        entries += 1
        bytes += figures.size
        hits += UInt64(figures.hits)
        accessed = max(accessed, moment)
    }

    package var name: String { membership.name }
}

package enum GroupColumn: String, Sendable, Hashable, CaseIterable {
    case group, entries, bytes, hits, idle
}

package struct EntryGroups: Sendable {
    package let listing: any EntryListing
    package let grouping: Grouping
    /// Unordered; see ``sorted(by:descending:)``.
    package private(set) var groups: [EntryGroup] = []
    /// Group of each entry, or -1.
    private var members: [Int32] = []
    package private(set) var bytes: UInt64 = 0
    package private(set) var entries = 0
    package private(set) var unreadable = 0
    /// Number of a server's keys without a permission to read their size, which are left out.
    package private(set) var unmeasured = 0
    /// Remarks on values that the property's calculation fails for, one line each.
    package private(set) var remarks: [String] = []
    /// Number of entries in groups beyond ``most``. The largest groups are kept, alternately by entries and by bytes; among equal
    /// groups, the first in the list.
    package private(set) var ungrouped = 0

    /// Maximum groups, and maximum bytes of their names.
    package static let most = 100_000
    fileprivate static let mostBytes = 64 << 20

    /// - Parameters:
    ///   - keys: all keys of the list, if ``Grouping/needsKeys``.
    ///   - chosen: the entries to group; nil: all.
    ///   - checkpoint: gets the share done, 0 to 1, and may throw to stop. If there are too many groups, a second pass restarts
    ///     the share at 0.
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
        var largest = LargestGroups()
        for row in 0..<rows.count {
            if row % 64 == 0 { try checkpoint(0.8 * Double(row) / Double(rows.count)) }
            let index = rows.index(row)
            guard let identity = identity(of: index, keys, probe) else { continue }
            largest.add(
                identity.hashNumber, bytes: listing.figures(at: index).size, ofName: identity.bytes, row: row)
        }
        _ = try collect(rows, largest.hashes) { share throws(Stop) in try checkpoint(0.8 + 0.2 * share) }
    }

    private struct Rows {
        let listing: any EntryListing
        let keys: KeyIndex?
        let probe: ListingProbe?
        let chosen: Positions?

        var count: Int { chosen?.count ?? listing.count }
        func index(_ row: Int) -> Int { chosen?.index(atRow: row) ?? row }
    }

    /// Groups all rows, or those of the groups with these hashes. Returns false if there are too many groups.
    private mutating func collect<Stop: Error>(
        _ rows: Rows, _ chosen: Set<UInt64>? = nil, checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) -> Bool {
        var numbers: [Identity: Int32] = [:]
        var bytesOfNames = 0
        (groups, entries, bytes, ungrouped) = ([], 0, 0, 0)
        (unreadable, unmeasured) = (0, 0)
        if case .prefix = grouping { unreadable = rows.keys?.unreadable ?? 0 }
        let probe = rows.probe
        members = Array(repeating: -1, count: listing.count)
        for row in 0..<rows.count {
            if row % 64 == 0 { try checkpoint(Double(row) / Double(rows.count)) }
            let index = rows.index(row)
            guard let identity = identity(of: index, rows.keys, probe) else { continue }
            let number: Int32
            if let known = numbers[identity] {
                number = known
            } else if chosen?.contains(identity.hashNumber)
                ?? (groups.count < EntryGroups.most && bytesOfNames < EntryGroups.mostBytes)
            {
                number = Int32(groups.count)
                groups.append(EntryGroup(membership(identity, index, probe)))
                numbers[identity] = number
                bytesOfNames += identity.bytes
            } else if chosen == nil {
                return false
            } else {
                ungrouped += 1
                continue
            }
            let figures = listing.figures(at: index)
            groups[Int(number)].add(figures, accessed: listing.accessed(at: index))
            members[index] = number
            entries += 1
            bytes += figures.size
        }
        if let probe { (unreadable, remarks) = (probe.unreadable, probe.kindRemarks) }
        return true
    }

    private enum Identity: Hashable {
        case known(GroupMembership)
        case value(GroupKey)

        var hashNumber: UInt64 { UInt64(bitPattern: Int64(hashValue)) }

        /// Approximate additional memory of a group.
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

    /// The group of an entry; nil if it isn't grouped.
    private mutating func identity(of index: Int, _ keys: KeyIndex?, _ probe: ListingProbe?) -> Identity? {
        switch grouping {
        case .prefix(let below, let separator):
            guard let key = keys?.key(at: index), !key.isEmpty, key.starts(with: below.utf8),
                isMeasured(index)
            else { return nil }
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
                    if listing.expiryAndTier(at: index).tier == .memory { unreadable += 1 }
                    return nil
                }
                return .known(.kind(ValueContent.kind(of: value.bytes, encoding: value.encoding)))
            } catch {
                unreadable += 1
                return nil
            }
        case .property: return isMeasured(index) ? probe?.groupKey(0, at: index).map(Identity.value) : nil
        }
    }

    /// Whether an entry's size is known. Counts one without a permission to read it, but no removed one.
    private mutating func isMeasured(_ index: Int) -> Bool {
        if listing.wasPresent(at: index) == false { return false }
        guard listing.unknown(at: index).contains(.size) else { return true }
        unmeasured += 1
        return false
    }

    /// A warning about the entries that are left out; nil: none.
    package var omission: String? {
        unmeasured == 0
            ? nil : "\(Figures.count(unmeasured, "key", "keys")) could not be measured: no permission"
    }

    /// The groups' indices sorted by a column, equal ones by name.
    package func sorted(by column: GroupColumn, descending: Bool) -> [Int] {
        groups.indices.sorted { left, right in
            let (a, b) = (groups[left], groups[right])
            let isLess: Bool?
            switch column {
            case .group: isLess = nil
            case .entries: isLess = a.entries == b.entries ? nil : a.entries < b.entries
            case .bytes: isLess = a.bytes == b.bytes ? nil : a.bytes < b.bytes
            case .hits: isLess = a.hits == b.hits ? nil : a.hits < b.hits
            case .idle: isLess = a.accessed == b.accessed ? nil : a.accessed > b.accessed
            }
            if let isLess { return isLess != descending }
            let isBefore = a.name.utf8.lexicographicallyPrecedes(b.name.utf8)
            return column == .group && descending ? !isBefore && a.name != b.name : isBefore
        }
    }

    /// The entries of a group, most recent first.
    package func places(ofGroup number: Int) -> [Int] {
        members.indices.filter { members[$0] == Int32(number) }
    }
}

/// Finds the largest groups by sums per 64-bit hash. Needs about 60 bytes per group.
private struct LargestGroups {
    private struct Sum {
        var bytes: UInt64 = 0
        var entries: UInt32 = 0
        let first: Int
        let bytesOfName: Int
    }

    private var sums: [UInt64: Sum] = [:]

    mutating func add(_ hash: UInt64, bytes: UInt64, ofName bytesOfName: Int, row: Int) {
        sums[hash, default: Sum(first: row, bytesOfName: bytesOfName)].entries += 1
        sums[hash]?.bytes += bytes
    }

    var hashes: Set<UInt64> {
        let byEntries = sums.sorted {
            ($1.value.entries, $0.value.first) < ($0.value.entries, $1.value.first)
        }
        let byBytes = sums.sorted { ($1.value.bytes, $0.value.first) < ($0.value.bytes, $1.value.first) }
        var (hashes, bytesOfNames): (Set<UInt64>, Int) = ([], 0)
        for (one, other) in zip(byEntries, byBytes) {
            for (hash, sum) in [one, other] where !hashes.contains(hash) {
                bytesOfNames += sum.bytesOfName
                guard hashes.count < EntryGroups.most, bytesOfNames <= EntryGroups.mostBytes else {
                    return hashes
                }
                hashes.insert(hash)
            }
        }
        return hashes
    }
}

extension KeyIndex {
    /// The most frequent separator after a prefix; nil if there is no separator.
    package func separator(below: String = "") -> UInt8? {
        var counts = [Int](repeating: 0, count: Grouping.separators.count)
        let length = below.utf8.count
        // Counts the separators in a sample of the keys.
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
