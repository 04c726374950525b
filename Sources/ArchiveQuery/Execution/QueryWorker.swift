import StorageEngine

/// The division of a query among threads, at its first stage that combines rows.
enum QueryDivision {
    /// Each thread runs the stages up to this one for a part of the entries; then their states are merged.
    case merging(Int)
    /// Each thread runs the stages before this one, whose rows are passed on to it in the entries' order.
    case collecting(Int)

    /// Nil if several threads wouldn't be faster.
    init?(_ plan: QueryPlan) {
        let stages = plan.pipeline.stages
        let front = stages.prefix(while: \.isOfSingleRows)
        switch stages.dropFirst(front.count).first {
        case .sort, .aggregate, .group: self = .merging(front.count)
        case .distinct: self = .collecting(front.count)
        case .find, .select, .limit, .skip, nil:
            guard front.contains(where: { if case .find = $0 { true } else { false } }) else { return nil }
            self = .collecting(front.count)
        }
    }

    var place: Int {
        switch self {
        case .merging(let place), .collecting(let place): place
        }
    }
}

/// Reads parts of a query's entries. Used by one thread at a time.
final class QueryWorker {
    /// Number of entries in a part whose rows are passed on, which takes some milliseconds.
    static let part = 8192

    let chain: QueryChain
    private let scan: EntryScan
    private let memory = MemoryBudget(limit: .max)
    /// Receives rows to pass on; nil if the last stage collects.
    private let found: FoundRows?
    private let unseen: UnseenRows?
    /// The unread rest of the part.
    private(set) var rest = 0..<0
    private(set) var visited = 0
    private(set) var failure: (any Error)?

    /// Rows that were not passed on because they repeat earlier ones.
    var repeated: Int { unseen.map { $0.rowsIn - $0.next.rowsIn } ?? 0 }

    var bytes: Int { memory.used + (found?.bytes ?? 0) }

    init(
        _ plan: QueryPlan, _ scan: EntryScan, _ division: QueryDivision, options: QueryOptions,
        timeLimit: SearchTimeLimit
    ) throws {
        var options = options
        // The caller's thread reports progress.
        options.progress = nil
        self.scan = scan
        let place = division.place
        let isMerging = if case .merging = division { true } else { false }
        let found = isMerging ? nil : FoundRows(QueryChain.form(of: plan, at: place))
        self.found = found
        let diagnostics = QueryDiagnostics(timeLimit: timeLimit)
        unseen = found.flatMap { UnseenRows(plan, at: place, diagnostics, next: $0) }
        chain = try QueryChain(
            plan, scan, options: options, memory: memory,
            diagnostics: diagnostics, through: isMerging ? place + 1 : place,
            into: unseen ?? found ?? RowSink())
    }

    /// Starts a part, which follows all earlier ones.
    func begin(_ part: Range<Int>) { rest = part }

    /// Reads until the deadline, or until it keeps more than `most` bytes.
    func work(until deadline: ContinuousClock.Instant, keeping most: Int) {
        found?.limit = most
        do { try read(until: deadline, keeping: most) } catch { failure = error }
    }

    private func read(until deadline: ContinuousClock.Instant, keeping most: Int) throws {
        scan.move(to: rest)
        defer {
            visited += scan.visited - rest.lowerBound
            rest = scan.visited..<rest.upperBound
        }
        // Local copies: reading the properties in the loop would double its time.
        let (first, scan, reader, memory) = (chain.sinks[0], scan, chain.reader, memory)
        var count = 0
        while try scan.advance() {
            reader.next()
            guard try first.push(reader), memory.used < most else { return }
            count += 1
            if count & 15 == 0, ContinuousClock.now >= deadline { return }
        }
    }

    /// Passes on its rows. Returns whether the stage can use more.
    func passOn(to stage: RowSink, _ reader: RowReader) throws -> Bool {
        for row in found?.take() ?? [] {
            guard try reader.show(row, { try stage.push(reader) }) else { return false }
        }
        return true
    }
}

/// Keeps rows for another thread.
private final class FoundRows: RowSink {
    private let form: KeptForm
    private var rows: [KeptRow] = []
    private(set) var bytes = 0
    /// The limit in bytes.
    var limit = 0

    init(_ form: KeptForm) { self.form = form }

    override func take(_ row: RowReader) throws -> Bool {
        guard let kept = try row.kept(form) else { return true }
        rows.append(kept)
        bytes += kept.bytes
        return bytes < limit
    }

    func take() -> [KeptRow] {
        defer { (rows, bytes) = ([], 0) }
        return rows
    }
}

/// Passes on the rows that a distinct stage may not have seen: most repeat an earlier one, and need no copy.
private final class UnseenRows: RowStage {
    /// Distinct rows beyond this are passed on each time.
    private static let most = 10_000
    private static let mostBytes = 256 << 10
    private let accesses: [RowShape.Access]
    private let functions: [RowShape.Access]
    private var seen: Set<GroupKey> = []
    private var bytes = 0
    /// Some of the rows that were seen or passed on.
    private var recent = RecentValues()
    private let isMany: Bool

    /// Nil for another stage. `diagnostics` counts failed calculations and values without elements of dropped rows.
    init?(_ plan: QueryPlan, at place: Int, _ diagnostics: QueryDiagnostics, next: RowSink) {
        guard place < plan.pipeline.stages.count, case .distinct(let columns) = plan.pipeline.stages[place]
        else { return nil }
        var shape = QueryChain.shapes(of: plan.pipeline.stages).shapes[place]
        shape.diagnostics = diagnostics
        accesses = columns.map {
            shape.counting(shape.access(to: $0.property), $0.property, stage: "distinct")
        }
        functions = accesses.filter { if case .computed = $0 { true } else { $0.isMany } }
        isMany = accesses.contains(where: \.isMany)
        super.init(next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        row.countsFailures = false
        let isNew = try isNew(row)
        row.countsFailures = true
        if isNew { return try next.push(row) }
        for function in functions { try row.forEachReadable(function) { _ in } }
        return true
    }

    private func isNew(_ row: RowReader) throws -> Bool {
        if isMany { return try row.groupKeys(accesses).reduce(false) { note($1.key) || $0 } }
        guard try row.look(for: accesses, in: &recent), recent.number() == nil, try row.isThere(),
            let key = try row.groupKey(accesses)
        else { return false }
        recent.note()
        return note(key)
    }

    private func note(_ key: GroupKey) -> Bool {
        guard !seen.contains(key) else { return false }
        if seen.count < Self.most, bytes + key.bytes <= Self.mostBytes {
            seen.insert(key)
            bytes += key.bytes
        }
        return true
    }
}
