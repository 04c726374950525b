import ArchiveQuery
import CBOR
import StorageEngine

/// Properties and values of the latest entries, for completion.
package struct PropertySample: Sendable {
    /// Maximum entries read.
    private static let entries = 200
    private static let mostNames = 500
    private static let mostValues = 5_000
    private static let deepest = 3
    /// Maximum characters of a suggested text.
    private static let longestText = 60

    /// The properties in order of appearance, nested ones after their parent.
    package private(set) var properties: [QueryProperty] = []
    /// Paths joined by dots, without those that have a dot in a part.
    package private(set) var names: [String] = []
    private var known: Set<ExactText> = []
    /// Values read, and how many have each property.
    package private(set) var values = 0
    private var occurrences: [ExactText: Int] = [:]
    private var counts: [ExactText: [QueryLiteral: Int]] = [:]
    private var valueCount = 0

    package init() {}

    /// Reads the latest entries' values without counting accesses.
    package init(of source: some QuerySource) throws {
        let latest = QueryPlan(QueryPipeline([.limit(PropertySample.entries)]))
        _ = try latest.run(over: source) { row in
            if let value = row.value.flatMap({ try? CBORReader.decode($0) }) { add(row.entry, value) }
            return true
        }
    }

    package mutating func add(_ entry: EntryFacts?, _ value: CBORValue) {
        if let entry {
            note(.text(entry.key), of: "@key")
            if let owner = entry.owner { note(.text(owner), of: "@owner") }
            note(.text(entry.tier.rawValue), of: "@tier")
        }
        values += 1
        add(value, at: [])
    }

    package func occurrences(of property: QueryProperty) -> Int {
        occurrences[ExactText(property.description)] ?? 0
    }

    private mutating func add(_ value: CBORValue, at path: [String]) {
        guard case .map(let map) = value else { return }
        for entry in map.entries {
            guard let name = entry.key.asString, properties.count < PropertySample.mostNames else { continue }
            let path = path + [name]
            let property = QueryProperty.path(path.map { .name($0) })
            let text = property.description
            if known.insert(ExactText(text)).inserted {
                properties.append(property)
                if !path.contains(where: { $0.utf8.contains(UInt8(ascii: ".")) }) {
                    names.append(path.joined(separator: "."))
                }
            }
            occurrences[ExactText(text), default: 0] += 1
            for part in entry.value.asArray ?? [entry.value] {
                if let literal = QueryLiteral(part) { note(literal, of: text) }
            }
            if path.count < PropertySample.deepest { add(entry.value, at: path) }
        }
    }

    private mutating func note(_ literal: QueryLiteral, of name: String) {
        if case .text(let text) = literal, text.count > PropertySample.longestText { return }
        let isNew = counts[ExactText(name)]?[literal] == nil
        guard !isNew || valueCount < PropertySample.mostValues else { return }
        if isNew { valueCount += 1 }
        counts[ExactText(name), default: [:]][literal, default: 0] += 1
    }

    /// The property's values, the most frequent first.
    package func values(of property: QueryProperty) -> [QueryLiteral] {
        var property = property
        if case .path(let steps) = property {
            // Elements of a list are found by the list's name.
            property = .path(steps.filter { $0 != .each })
        }
        return (counts[ExactText(property.description)] ?? [:]).map {
            (literal: $0, count: $1, text: $0.description)
        }
        .sorted { ($1.count, $0.text) < ($0.count, $1.text) }.map(\.literal)
    }
}

extension QueryLiteral {
    package init?(_ value: CBORValue) {
        switch value {
        case .text(let text): self = .text(text)
        case .boolean(let flag): self = .boolean(flag)
        case .unsigned(let number): self = Int64(exactly: number).map { .integer($0) } ?? .unsigned(number)
        case .negative: if let number = value.asInt64 { self = .integer(number) } else { return nil }
        case .float(let number) where number.isFinite: self = .number(number)
        default: return nil
        }
    }
}
