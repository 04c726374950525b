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
        var stages = Stage.stages(of: queries)[...]
        var rows = try stages.removeFirst().run(over: items) { item in
            try object(item).map { (item, $0) }
        }
        for stage in stages { rows = stage.run(over: rows) { $0 } }
        return rows.map(\.item)
    }

    /// Finds and limits, then at most one sort: what can be done in one pass.
    private struct Stage {
        var gate: Gate<Result>
        var orders: [SortOrder<Result>] = []
        /// Most rows that the next stage looks at.
        var most = Int.max

        static func stages(of queries: [Query<Result>]) -> [Stage] {
            var stages = [Stage(gate: Gate())]
            for query in queries {
                if case .sort(let orders) = query.step {
                    // A stable sort after another one: the former tells apart what the later one doesn't.
                    stages[stages.count - 1].orders.insert(contentsOf: orders, at: 0)
                    continue
                }
                if !stages[stages.count - 1].orders.isEmpty {
                    if case .limit(let limiter) = query.step { stages[stages.count - 1].most = limiter.limit }
                    stages.append(Stage(gate: Gate()))
                }
                switch query.step {
                case .find(let conditions): stages[stages.count - 1].gate.append(.conditions(conditions))
                case .limit(let limiter): stages[stages.count - 1].gate.append(.room(limiter.limit))
                case .sort: break
                }
            }
            return stages
        }

        func run<Items: Sequence, Item>(
            over items: Items, row: (Items.Element) throws -> RowCollector<Item, Result>.Row?
        ) rethrows -> [RowCollector<Item, Result>.Row] {
            var gate = gate
            if gate.isClosed || most == 0 { return [] }
            var collector = RowCollector<Item, Result>(orders: orders, most: most)
            for item in items {
                if let (item, object) = try row(item), gate.admits(object) { collector.insert(item, object) }
                if gate.isClosed { break }
            }
            return collector.finish()
        }
    }
}

/// Finds and limits in the order in which they are written.
private struct Gate<Result> {
    enum Post {
        case conditions([QueryCondition<Result>])
        /// How many more may pass.
        case room(Int)
    }

    private var posts: [Post] = []
    /// Whether nothing more can pass.
    private(set) var isClosed = false

    mutating func append(_ post: Post) {
        posts.append(post)
        if case .room(0) = post { isClosed = true }
    }

    mutating func admits(_ object: Result) -> Bool {
        for index in posts.indices {
            switch posts[index] {
            case .conditions(let conditions):
                for condition in conditions where !condition.isMet(object) { return false }
            case .room(let room):
                if room == 0 { return false }
                posts[index] = .room(room - 1)
                if room == 1 { isClosed = true }
            }
        }
        return true
    }
}
