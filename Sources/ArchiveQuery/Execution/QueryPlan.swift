import StorageEngine

/// A pipeline with its execution plan.
///
/// Stages run in order. These optimizations never change a result: conditions are tested cheapest first, metadata in the index
/// before anything is read, other metadata before values; a sort keeps only the rows that later limits use; reading ends once no
/// stage needs more rows; keys that must be equal are looked up; and entries are read in storage order if order doesn't matter.
public struct QueryPlan: Sendable {
    /// The planned pipeline.
    public let pipeline: QueryPipeline
    /// The names of the rows' columns; nil if rows are whole entries.
    public let columns: [String]?
    /// The order in which entries are read.
    public let order: QueryScanOrder
    /// The keys to look up; nil if all entries are read.
    public let keys: [String]?
    /// Whether any stage reads values. Otherwise the index is enough, except for the resulting rows.
    public let readsValues: Bool

    /// Plans a pipeline. Reads no entries.
    public init(_ pipeline: QueryPipeline) {
        self.pipeline = pipeline
        columns = QueryChain.shapes(of: pipeline.stages).shapes.last?.columns?.map(\.columnName)
        order = Self.order(of: pipeline.stages)
        keys = Self.keys(of: pipeline.stages)
        readsValues = pipeline.readsValues
    }

    /// Recency order if rows are returned, skipped or limited in the order of reading.
    private static func order(of stages: [PipelineStage]) -> QueryScanOrder {
        if stages.contains(where: \.asksForRank) { return .recency }
        for stage in stages {
            switch stage {
            case .find, .select: continue
            case .sort, .aggregate, .group: return .storage
            case .limit, .skip, .distinct: return .recency
            }
        }
        return .recency
    }

    /// The only keys that can match, by the leading conditions; nil if unknown.
    private static func keys(of stages: [PipelineStage]) -> [String]? {
        if stages.contains(where: \.asksForRank) { return nil }
        for stage in stages {
            guard case .find(let predicate) = stage else { return nil }
            if let keys = predicate.possibleKeys { return keys }
        }
        return nil
    }

    /// Whether the value of every entry is read, because neither conditions on metadata nor limits exclude one.
    package var readsEveryValue: Bool {
        readsValues
            && pipeline.stages.allSatisfy { stage in
                switch stage {
                case .limit, .skip: false
                case .find: !stage.properties.contains(where: \.isMetadata)
                case .sort, .select, .distinct, .aggregate, .group: true
                }
            }
    }

    /// Indices of the columns of keys and owners.
    package var keyColumns: Set<Int> { QueryChain.shapes(of: pipeline.stages).shapes.last?.keyColumns ?? [] }
}

extension [String] {
    /// Numbers repeated names, of which readers of JSON or CSV keep one.
    package var distinct: [String] { distinct(as: ExactText.init) }

    /// Likewise, for names with equal `identity`.
    package func distinct<Identity: Hashable>(as identity: (String) -> Identity) -> [String] {
        var seen: Set<Identity> = []
        // The first number to try for the next equal name, so that many equal names take linear time.
        var numbers: [Identity: Int] = [:]
        return map { name in
            if seen.insert(identity(name)).inserted { return name }
            var number = numbers[identity(name)] ?? 2
            while !seen.insert(identity("\(name) \(number)")).inserted { number += 1 }
            numbers[identity(name)] = number + 1
            return "\(name) \(number)"
        }
    }
}

extension QueryProperty {
    package var columnName: String {
        guard case .path(let steps) = self else { return description }
        return steps.reduce("") { text, step in
            switch step {
            case .name(let name): text.isEmpty ? name : text + "." + name
            case .index(let index): text + "[\(index)]"
            case .each: text + "[]"
            }
        }
    }
}

extension QueryColumn {
    package var columnName: String { name ?? property.columnName }
    var asProperty: QueryProperty { name.map { .named($0) } ?? property }
}

extension [QueryFigure] {
    /// `sum`; with several sums, `sum population`; or the name given by `as`.
    package var columnNames: [String] {
        let unnamed = Dictionary(grouping: filter { $0.name == nil }, by: \.aggregate.columnName)
        return map { figure in
            let name = figure.aggregate.columnName
            let isOnlyOne = unnamed[name]?.count == 1
            let property = isOnlyOne ? nil : figure.aggregate.property
            return figure.name ?? name + (property.map { " " + $0.columnName } ?? "")
        }
    }

    var columnProperties: [QueryProperty] { columnNames.map { .named($0) } }
}

extension PipelineStage {
    /// All properties that the predicate uses, including those of calculations.
    package var properties: [QueryProperty] { askedProperties.flatMap(\.sources) }

    var askedProperties: [QueryProperty] {
        switch self {
        case .find(let predicate): predicate.properties
        case .sort(let keys): keys.map(\.property)
        case .limit, .skip: []
        case .select(let columns), .distinct(let columns): columns.map(\.property)
        case .aggregate(let figures): figures.compactMap(\.aggregate.property)
        case .group(let columns, let figures):
            columns.map(\.property) + figures.compactMap(\.aggregate.property)
        }
    }

    /// Whether it processes single rows and keeps their order.
    var isOfSingleRows: Bool {
        switch self {
        case .find, .select: true
        case .sort, .limit, .skip, .distinct, .aggregate, .group: false
        }
    }

    /// Whether its rows are columns instead of whole entries.
    var makesColumns: Bool {
        switch self {
        case .find, .sort, .limit, .skip: false
        case .select, .distinct, .aggregate, .group: true
        }
    }

    fileprivate var asksForRank: Bool { properties.contains(.metadata(.rank)) }
}

extension QueryPipeline {
    /// The part of the first condition that needs only keys; nil: none.
    package var keyCondition: QueryPredicate? {
        if case .find(let predicate)? = stages.first { predicate.ofKeys } else { nil }
    }

    /// Whether any stage uses values, up to the first that combines several entries into a row.
    fileprivate var readsValues: Bool {
        for stage in stages {
            if stage.properties.contains(where: { if case .path = $0 { true } else { false } }) {
                return true
            }
            switch stage {
            case .find, .sort, .limit, .skip: continue
            case .select, .distinct, .aggregate, .group: return false
            }
        }
        return true
    }
}

extension QueryPredicate {
    var properties: [QueryProperty] {
        switch self {
        case .and(let parts), .or(let parts): parts.flatMap(\.properties)
        case .not(let part): part.properties
        case .relate(let property, _, let other): [property, other]
        case .compare(let property, _, _), .count(let property, _, _), .isIn(let property, _),
            .between(let property, _, _), .contains(let property, _, _), .startsWith(let property, _),
            .endsWith(let property, _), .like(let property, _, _), .matches(let property, _),
            .hasAny(let property, _), .hasAll(let property, _), .presence(let property, _):
            [property]
        }
    }

    /// The part that needs only keys; nil: none.
    fileprivate var ofKeys: QueryPredicate? {
        guard case .and(let parts) = self else {
            return properties.flatMap(\.sources).allSatisfy { $0 == .metadata(.key) } ? self : nil
        }
        let ofKeys = parts.compactMap(\.ofKeys)
        return ofKeys.isEmpty ? nil : .and(ofKeys)
    }

    /// The keys of which a matching entry must have one; nil if unknown.
    fileprivate var possibleKeys: [String]? {
        switch self {
        case .and(let parts): return parts.lazy.compactMap(\.possibleKeys).first
        case .compare(.metadata(.key), .equal, let literal): return Self.keys([literal])
        case .isIn(.metadata(.key), let literals): return Self.keys(literals)
        default: return nil
        }
    }

    /// The texts among the values. Nil for a date, which equals every key that spells it.
    private static func keys(_ literals: [QueryLiteral]) -> [String]? {
        var keys: [String] = []
        for literal in literals {
            switch literal {
            case .date, .localDate: return nil
            case .text(let text): keys.append(text)
            default: break
            }
        }
        return keys
    }
}
