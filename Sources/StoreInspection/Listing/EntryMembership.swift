import ArchiveQuery
import StorageEngine

package indirect enum GroupMembership: Sendable, Hashable {
    case prefix(ExactText)
    /// Keys with the prefix `below` and no separator after it.
    case last(below: ExactText, separator: UInt8)
    /// Entries of an owner; nil: entries without an owner.
    case owner(ExactText?)
    case kind(String)
    /// Entries with this property value, and the text that shows it.
    case value(QueryProperty, GroupKey, shown: String)
    case both(GroupMembership, GroupMembership)

    package var readsValues: Bool {
        switch self {
        case .kind: true
        case .value(let property, _, _): !property.isMetadata
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

    /// The equivalent condition; nil if the query language has none.
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

    /// The name on screen: the prefix, the owner or the value.
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

    /// Whether a text is empty or looks like another kind of value.
    private static func isMistakable(_ text: String) -> Bool {
        text.isEmpty || ["true", "false", "null"].contains(text) || Double(text) != nil
    }

    /// The name with its property: `country ID`.
    package var description: String {
        switch self {
        case .value(let property, let key, _) where key != .absent: "\(property.columnName) \(name)"
        case .both(let one, let other): "\(one.description), \(other.description)"
        default: name
        }
    }
}

extension GroupKey {
    fileprivate var literal: QueryLiteral? {
        switch self {
        case .boolean(let flag): .boolean(flag)
        case .number(.integer(let number)): QueryLiteral(number: number.description)
        case .number(.float(let number)): number.isFinite ? .number(number) : nil
        case .text(let text): .text(text)
        case .key(let key): .text(key.text)
        case .absent, .nan, .number, .date, .bytes, .list, .map, .other: nil
        }
    }
}

/// Tests which entries of a list are in a group and match a condition.
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

    package var unreadable: Int { probe.unreadable + unreadableKeys }
    package var warnings: [String] { probe.warnings }
    package var undecided: Int { probe.undecided }

    package mutating func holds(at index: Int) -> Bool {
        // Runs cheap tests first.
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

    /// The key; empty if it can't be read, because no entry has an empty key.
    private mutating func key(_ index: Int) -> [UInt8] {
        var key: [UInt8] = []
        unreadableKeys += listing.readKeys(of: index..<index + 1, in: .all(listing.count)) { key = Array($1) }
        return key
    }
}

extension EntryListing {
    /// The format of a value, as ``ValueContent`` names it; nil if it is missing or unreadable.
    func kind(at index: Int) -> String? {
        guard let value = (try? value(at: index)) ?? nil else { return nil }
        return ValueContent.kind(of: value.bytes, encoding: value.encoding)
    }
}
