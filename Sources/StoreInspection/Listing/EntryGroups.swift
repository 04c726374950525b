import StorageEngine

/// What the entries of a list are grouped by. A value; safe to share between threads.
package enum Grouping: Sendable, Hashable {
    /// The part of the key behind the beginning `below`, up to and with the next separator.
    case prefix(below: String, separator: UInt8)
    case owner

    /// The separators that are looked for in keys; where two are equally frequent the first of them is taken.
    package static let separators = Array(":/|.#-_ ".utf8)

    /// `key up to ":"`, `owner`
    package var name: String {
        switch self {
        case .prefix(_, let separator): "key up to \"\(Character(UnicodeScalar(separator)))\""
        case .owner: "owner"
        }
    }
}

/// Which entries are of a group. A value; safe to share between threads.
package enum GroupMembership: Sendable, Hashable {
    /// Keys that begin with it.
    case prefix(ExactText)
    /// Keys that begin with `below` and have no separator behind that.
    case last(below: ExactText, separator: UInt8)
    /// Those of an owner; `nil`: those of none.
    case owner(ExactText?)

    /// Whether the key says it; else the entry's metadata have to be asked.
    package var isOfKey: Bool { if case .owner = self { false } else { true } }

    package func matches(_ key: ArraySlice<UInt8>) -> Bool {
        switch self {
        case .prefix(let beginning): key.starts(with: beginning.text.utf8)
        case .last(let below, let separator):
            key.starts(with: below.text.utf8) && !key.dropFirst(below.text.utf8.count).contains(separator)
        case .owner: false
        }
    }

    package func matches(_ entry: EntryMetadata) -> Bool {
        guard case .owner(let owner) = self else { return matches(Array(entry.key.utf8)[...]) }
        return entry.owner.map(ExactText.init) == owner
    }
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

    /// How a person calls it: the beginning of its keys, or the owner.
    package var name: String {
        switch membership {
        case .prefix(let beginning): beginning.text
        case .last(let below, _): below.text.isEmpty ? "(other keys)" : "\(below.text)… (no further part)"
        case .owner(let owner): owner?.text ?? "(no owner)"
        }
    }

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
    /// Entries beyond ``most`` groups, which are in none.
    package private(set) var ungrouped = 0

    /// Groups that are kept.
    package static let most = 100_000

    /// - Parameters:
    ///   - keys: all keys of the list, needed for groups by prefix.
    ///   - checkpoint: hears the share done, 0 to 1, and may throw to stop.
    package init<Stop: Error>(
        _ listing: any EntryListing, keys: KeyIndex?, by grouping: Grouping,
        checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) {
        self.listing = listing
        self.grouping = grouping
        if case .prefix = grouping { unreadable = keys?.unreadable ?? 0 }
        var numbers: [GroupMembership: Int32] = [:]
        members.reserveCapacity(listing.count)
        for index in 0..<listing.count {
            if index % 4096 == 0 { try checkpoint(Double(index) / Double(listing.count)) }
            members.append(-1)
            guard let membership = membership(of: index, keys) else { continue }
            let number: Int32
            if let known = numbers[membership] {
                number = known
            } else if groups.count < EntryGroups.most {
                number = Int32(groups.count)
                groups.append(EntryGroup(membership))
                numbers[membership] = number
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
    }

    /// The group of an entry; `nil`: it isn't among those that are grouped.
    private mutating func membership(of index: Int, _ keys: KeyIndex?) -> GroupMembership? {
        switch grouping {
        case .prefix(let below, let separator):
            guard let key = keys?.key(at: index), !key.isEmpty, key.starts(with: below.utf8) else {
                return nil
            }
            guard let end = key.dropFirst(below.utf8.count).firstIndex(of: separator) else {
                return .last(below: ExactText(below), separator: separator)
            }
            return .prefix(ExactText(String(decoding: key[...end], as: UTF8.self)))
        case .owner:
            do throws(SourceError) {
                guard let entry = try listing.entry(at: index) else { return nil }
                return .owner(entry.owner.map(ExactText.init))
            } catch {
                unreadable += 1
                return nil
            }
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
