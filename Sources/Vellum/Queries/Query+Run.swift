extension Query {
    /// What the queries leave of the items, one query after the other. `object` makes the object of an item that
    /// they ask; an item for which it returns nil is left out, before any query sees it.
    ///
    /// Items are taken one at a time until a sort needs all; as soon as a limit before any sort lets nothing more
    /// through, no further item is taken. A sort is stable, so the order of a sort before it, or of the items, stays
    /// where it finds no difference. A sort that is followed by a limit keeps about twice the limit in memory, not
    /// all objects.
    package static func run<Items: Sequence>(
        _ queries: [Query<Result>], over items: Items, object: (Items.Element) throws -> Result?
    ) rethrows -> [Items.Element] {
        var run = RunningQuery<Items.Element, Result>(queries)
        if run.isComplete { return [] }
        for item in items {
            guard let object = try object(item) else { continue }
            run.add(item, object)
            if run.isComplete { break }
        }
        return run.finish()
    }
}

/// Queries that are given one item after the other.
struct RunningQuery<Item, Result> {
    private let stages: [QueryStage<Result>]
    private let gate: Gate<Result>
    private var rows: RowCollector<Item, Result>

    init(_ queries: [Query<Result>]) {
        stages = QueryStage.stages(of: queries)
        gate = Gate(stages[0])
        rows = RowCollector(stages[0], isLast: stages.count == 1)
    }

    /// Whether no further item makes a difference.
    var isComplete: Bool { gate.lock.isClosed }

    /// Takes the next item, and the object of it that the queries ask.
    mutating func add(_ item: Item, _ object: Result) {
        if gate.admits(object) { rows.insert(item, object) }
    }

    /// What is left when there is no further item.
    consuming func finish() -> [Item] {
        for (index, stage) in stages.enumerated().dropFirst() {
            rows = rows.passed(through: stage, isLast: index == stages.count - 1)
        }
        return rows.finish().items
    }
}

/// Finds, limits and skips, then at most one sort: what can be done in one pass.
struct QueryStage<Result> {
    var gate: [Query<Result>.Step] = []
    /// Of all sorts of the stage, in the order in which they count.
    var orders: [SortOrder<Result>] = []
    /// Most rows that the next stage looks at.
    var most = Int.max

    static func stages(of queries: [Query<Result>]) -> [QueryStage] {
        var stages: [QueryStage] = []
        var stage = QueryStage()
        for (index, query) in queries.enumerated() {
            if case .sort(let orders) = query.step {
                // A stable sort after another one: the former tells apart what the later one doesn't.
                stage.orders.insert(contentsOf: orders, at: 0)
                continue
            }
            if !stage.orders.isEmpty {
                stage.most = most(lookedAtBy: queries[index...])
                stages.append(stage)
                stage = QueryStage()
            }
            stage.gate.append(query.step)
        }
        return stages + [stage]
    }

    /// Rows that steps look at, as far as those say that come before any find or sort.
    private static func most(lookedAtBy steps: ArraySlice<Query<Result>>) -> Int {
        var skipped = 0
        for query in steps {
            switch query.step {
            case .skip(let count):
                let (sum, isTooMuch) = skipped.addingReportingOverflow(count)
                if isTooMuch { return .max }
                skipped = sum
            case .limit(let limiter):
                if limiter.limit == 0 { return 0 }
                let (sum, isTooMuch) = skipped.addingReportingOverflow(limiter.limit)
                return isTooMuch ? .max : sum
            case .find, .sort: return .max
            }
        }
        return .max
    }
}

/// The finds, limits and skips of a stage in the order in which they are written, as one closure: walking through an array of
/// a generic type costs several times as much as a condition.
struct Gate<Result> {
    final class Lock {
        /// Whether nothing more can pass.
        fileprivate(set) var isClosed = false
    }

    let lock = Lock()
    private(set) var admits: (Result) -> Bool

    init(_ stage: QueryStage<Result>) {
        admits = { _ in true }
        if stage.most == 0 { lock.isClosed = true }
        for step in stage.gate {
            switch step {
            case .find(let conditions): for condition in conditions { append(condition.isMet) }
            case .limit(let limiter): append(limiter.limit)
            case .skip(let count): append(skipping: count)
            case .sort: break
            }
        }
    }

    private mutating func append(_ isMet: @escaping (Result) -> Bool) {
        admits = { [admits] in admits($0) && isMet($0) }
    }

    private mutating func append(skipping count: Int) {
        var left = count
        append { _ in
            guard left > 0 else { return true }
            left -= 1
            return false
        }
    }

    private mutating func append(_ limit: Int) {
        var room = limit
        if room == 0 { lock.isClosed = true }
        admits = { [admits, lock] object in
            guard admits(object), room > 0 else { return false }
            room -= 1
            if room == 0 { lock.isClosed = true }
            return true
        }
    }
}
