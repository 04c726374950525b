import CBOR

/// Sendable value type; safe to use from any thread. A pipeline with the way in which it is carried out.
///
/// Stages work in their order; what is done otherwise changes no result: parts of a condition are asked the cheapest
/// first, metadata of the index before anything is read; a sort keeps no more rows than the limits behind it let through;
/// reading ends when no stage takes another row; keys that must be equal are looked up; entries are read as they lie
/// where their order makes no difference.
public struct QueryPlan: Sendable {
    public let pipeline: QueryPipeline
    /// Names of the columns that rows have; nil if rows are whole entries.
    public let columns: [String]?
    /// The order in which entries are gone through.
    public let order: QueryScanOrder
    /// The keys that are looked up instead of going through all entries; nil: there are none.
    public let keys: [String]?
    /// Whether any value is read; else the index is enough, and what a row shows.
    public let readsValues: Bool

    public init(_ pipeline: QueryPipeline) {
        self.pipeline = pipeline
        columns = Self.columns(of: pipeline.stages)
        order = Self.order(of: pipeline.stages)
        keys = Self.keys(of: pipeline.stages)
        readsValues = pipeline.readsValues
    }

    /// Where the order of entries makes a difference: for rows that come out, or are counted off, as they come.
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

    /// Keys of which the first conditions say that no others can match.
    private static func keys(of stages: [PipelineStage]) -> [String]? {
        if stages.contains(where: \.asksForRank) { return nil }
        for stage in stages {
            guard case .find(let predicate) = stage else { return nil }
            if let keys = predicate.possibleKeys { return keys }
        }
        return nil
    }

    private static func columns(of stages: [PipelineStage]) -> [String]? {
        var columns: [String]?
        for stage in stages {
            switch stage {
            case .find, .sort, .limit, .skip: continue
            case .select(let chosen), .distinct(let chosen): columns = chosen.map(\.columnName)
            case .aggregate(let figures): columns = figures.columnNames
            case .group(let keys, let figures): columns = keys.map(\.columnName) + figures.columnNames
            }
        }
        return columns
    }
}

extension QueryProperty {
    /// What a column of it is called: the names of its steps with dots between them.
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
    /// What the stages behind ask for.
    var asProperty: QueryProperty { name.map { .named($0) } ?? property }
}

extension [QueryFigure] {
    /// `sum`; where several sums are asked for, `sum population`; or as they are named.
    var columnNames: [String] {
        map { figure in
            let name = figure.aggregate.columnName
            let isOnlyOne = count { $0.name == nil && $0.aggregate.columnName == name } == 1
            let property = isOnlyOne ? nil : figure.aggregate.property
            return figure.name ?? name + (property.map { " " + $0.columnName } ?? "")
        }
    }

    /// Likewise, as properties for the stages behind.
    var columnProperties: [QueryProperty] { columnNames.map { .named($0) } }
}

extension PipelineStage {
    /// All properties that it is about; of what is calculated the parts.
    package var properties: [QueryProperty] { askedProperties.flatMap(\.sources) }

    private var askedProperties: [QueryProperty] {
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
    /// Whether anything is about values, before rows are made of several entries.
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

    /// The keys that an entry must have one of to match; nil if they aren't known.
    fileprivate var possibleKeys: [String]? {
        switch self {
        case .and(let parts): return parts.lazy.compactMap(\.possibleKeys).first
        case .compare(.metadata(.key), .equal, let literal): return Self.keys([literal])
        case .isIn(.metadata(.key), let literals): return Self.keys(literals)
        default: return nil
        }
    }

    /// A look-up compares bytes; texts are looked up if that is the same as comparing characters.
    private static func keys(_ literals: [QueryLiteral]) -> [String]? {
        var keys: [String] = []
        for literal in literals {
            guard case .text(let text) = literal else { continue }
            // Characters beyond ASCII are the same as these: the Kelvin sign, Greek question mark, Greek varia.
            guard text.utf8.allSatisfy({ $0 < 0x80 && $0 != 0x4b && $0 != 0x3b && $0 != 0x60 }) else {
                return nil
            }
            keys.append(text)
        }
        return keys
    }
}
