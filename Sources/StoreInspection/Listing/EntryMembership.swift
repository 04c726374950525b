import ArchiveQuery
import StorageEngine

/// Which entries are of a group. A value; safe to share between threads.
package indirect enum GroupMembership: Sendable, Hashable {
    case prefix(ExactText)
    /// Keys that begin with `below` and have no separator behind that.
    case last(below: ExactText, separator: UInt8)
    /// Those of an owner; `nil`: those of none.
    case owner(ExactText?)
    case kind(String)
    /// Those that have this of a property, and how a person calls it.
    case value(QueryProperty, GroupKey, shown: String)
    case both(GroupMembership, GroupMembership)

    package var readsValues: Bool {
        switch self {
        case .kind, .value: true
        case .prefix, .last, .owner: false
        case .both(let one, let other): one.readsValues || other.readsValues
        }
    }

    fileprivate var properties: [QueryProperty] {
        switch self {
        case .value(let property, _, _): [property]
        case .prefix, .last, .owner, .kind: []
        case .both(let one, let other): one.properties + other.properties
        }
    }

    /// The condition that its entries meet and no others; nil: the query language has none.
    package var predicate: QueryPredicate? {
        switch self {
        case .prefix(let beginning): return .startsWith(.metadata(.key), beginning.text)
        case .owner(let owner?): return .compare(.metadata(.owner), .equal, .text(owner.text))
        case .owner(nil): return .presence(.metadata(.owner), .null)
        case .value(let property, .absent, _): return .presence(property, .null)
        case .value(let property, let key, _): return key.literal.map { .compare(property, .equal, $0) }
        case .both(let one, let other):
            guard let one = one.predicate, let other = other.predicate else { return nil }
            return .and([one, other])
        case .last, .kind: return nil
        }
    }

    /// How a person calls it: the beginning of its keys, the owner, the value.
    package var name: String {
        switch self {
        case .prefix(let beginning): beginning.text
        case .last(let below, _): below.text.isEmpty ? "(other keys)" : "\(below.text)… (rest)"
        case .owner(let owner): owner?.text ?? "(no owner)"
        case .kind(let kind): kind
        case .value(let property, .absent, _): "(no \(property.columnName))"
        case .value(_, .text, let shown), .value(_, .key, let shown):
            Self.isMistakable(shown) ? "\"\(shown)\"" : shown
        case .value(_, _, let shown): shown
        case .both(let one, let other): "\(one.name), \(other.name)"
        }
    }

    /// Whether a text looks like nothing, or like another kind of value.
    private static func isMistakable(_ text: String) -> Bool {
        text.isEmpty || ["true", "false", "null"].contains(text) || Double(text) != nil
    }

    /// The same where a list names it, and what is grouped by isn't said beside it: `country ID`.
    package var description: String {
        switch self {
        case .value(let property, let key, _) where key != .absent: "\(property.columnName) \(name)"
        case .both(let one, let other): "\(one.description), \(other.description)"
        default: name
        }
    }
}

extension GroupKey {
    /// The value, where a condition can name it.
    fileprivate var literal: QueryLiteral? {
        switch self {
        case .boolean(let flag): .boolean(flag)
        case .integer(let number): QueryLiteral(number: number.description)
        case .float(let number): number.isFinite ? .number(number) : nil
        case .text(let text): .text(text)
        case .key(let key): .text(key.text)
        case .absent, .nan, .decimal, .date, .bytes, .list, .map, .other: nil
        }
    }
}

/// Tells which entries of a list are of a group and meet a condition. For one thread.
package struct EntryMembership {
    private let listing: any EntryListing
    private let group: GroupMembership?
    private let properties: [QueryProperty]
    private let probe: ListingProbe
    private let hasCondition: Bool
    private var unreadableKeys = 0

    package init(
        of group: GroupMembership?, meeting condition: EntryCondition?, in listing: any EntryListing,
        now: Timestamp
    ) throws(SourceError) {
        self.listing = listing
        self.group = group
        properties = group?.properties ?? []
        hasCondition = condition != nil
        if let condition {
            probe = try ListingProbe(
                listing, condition: condition.predicate, properties: properties, now: now)
        } else {
            probe = ListingProbe(listing, properties: properties, now: now)
        }
    }

    /// How many entries couldn't be asked.
    package var unreadable: Int { probe.unreadable + unreadableKeys }
    package var warnings: [String] { probe.warnings }
    /// The number of entries for which the condition was unknown.
    package var undecided: Int { probe.undecided }

    package mutating func holds(at index: Int) -> Bool {
        // What is cheap to tell comes first.
        if let group, !holds(group, index) { return false }
        return !hasCondition || probe.isMet(at: index)
    }

    private mutating func holds(_ group: GroupMembership, _ index: Int) -> Bool {
        switch group {
        case .prefix(let beginning): return key(index).starts(with: beginning.text.utf8)
        case .last(let below, let separator):
            let key = key(index)
            return key.starts(with: below.text.utf8)
                && !key.dropFirst(below.text.utf8.count).contains(separator)
        case .owner(let owner):
            guard let entry = (try? listing.entry(at: index)) ?? nil else { return false }
            return entry.owner.map(ExactText.init) == owner
        case .kind(let kind): return listing.kind(at: index) == kind
        case .value(let property, let key, _):
            guard let number = properties.firstIndex(of: property) else { return false }
            return probe.groupKey(number, at: index) == key
        case .both(let one, let other): return holds(one, index) && holds(other, index)
        }
    }

    /// Empty if it can't be read: no entry has such a key.
    private mutating func key(_ index: Int) -> [UInt8] {
        var key: [UInt8] = []
        unreadableKeys += listing.readKeys(of: index..<index + 1, in: .all(listing.count)) { key = Array($1) }
        return key
    }
}

extension EntryListing {
    /// What the value of an entry is, as ``ValueContent`` calls it; nil: it is gone or can't be read.
    func kind(at index: Int) -> String? {
        guard let value = (try? value(at: index)) ?? nil else { return nil }
        return ValueContent.kind(of: value.bytes, encoding: value.encoding)
    }
}
