extension Query {
    /// Applies the queries to the items, one at a time, each with its `object` if any. Stops once a limit before any
    /// sort is reached. Sorts are stable; one followed by a limit keeps about twice the limit in memory.
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

struct RunningQuery<Item, Result> {
    private let stages: [QueryStage<Result>]
    private let gate: Gate<Result>
    private var rows: RowCollector<Item, Result>

    init(_ queries: [Query<Result>]) {
        stages = QueryStage.stages(of: queries)
        gate = Gate(stages[0])
        rows = RowCollector(stages[0], isLast: stages.count == 1)
    }

    var isComplete: Bool { gate.lock.isClosed }

    mutating func add(_ item: Item, _ object: Result) {
        if gate.admits(object) { rows.insert(item, object) }
    }

    consuming func finish() -> [Item] {
        for (index, stage) in stages.enumerated().dropFirst() {
            rows = rows.passed(through: stage, isLast: index == stages.count - 1)
        }
        return rows.finish().items
    }
}

struct QueryStage<Result> {
    var gate: [Query<Result>.Step] = []
    var orders: [SortOrder<Result>] = []
    var most = Int.max

    static func stages(of queries: [Query<Result>]) -> [QueryStage] {
        var stages: [QueryStage] = []
        var stage = QueryStage()
        for (index, query) in queries.enumerated() {
            if case .sort(let orders) = query.step {
                // Two stable sorts in a row: the earlier one breaks the ties of the later one.
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

/// A stage's finds, limits and skips as one closure: iterating over an array of a generic type costs more.
struct Gate<Result> {
    final class Lock {
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
        var remaining = limit
        if remaining == 0 { lock.isClosed = true }
        admits = { [admits, lock] object in
            guard admits(object), remaining > 0 else { return false }
            remaining -= 1
            if remaining == 0 { lock.isClosed = true }
            return true
        }
    }
}
