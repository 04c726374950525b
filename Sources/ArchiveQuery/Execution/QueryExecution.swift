import StorageEngine

/// A single run of a plan. Not thread-safe. Only the caller's thread reads the first entries of a large archive.
final class QueryExecution {
    private let options: QueryOptions
    private let output: OutputSink
    private let chain: QueryChain
    private var workers: [QueryWorker] = []
    private var visitedAlone = 0

    private static let mostThreads = 64
    /// The least memory of a thread, in bytes.
    private static let leastMemory = 1 << 20
    /// Entries read by the caller's thread before others start.
    private static let first = 8192

    init(
        _ plan: QueryPlan, _ cursor: any QueryCursor, options: QueryOptions,
        body: @escaping (PassingRow) throws -> Bool
    ) throws {
        self.options = options
        output = OutputSink(hasColumns: plan.columns != nil, body: body)
        chain = try QueryChain(
            plan, cursor, options: options,
            memory: plan.pipeline.stages.allSatisfy(\.isOfSingleRows)
                ? MemoryBudget(limit: options.memoryLimit) : MemoryBudget(atMost: options.memoryLimit),
            into: output)
    }

    func run(over source: some QuerySource) throws -> QueryReport {
        try readEntries()
        try chain.sinks[0].end()
        for worker in workers { chain.diagnostics.absorb(worker.chain.diagnostics) }
        if options.looksForMistakes { try findOtherKinds(in: source) }
        return report()
    }

    /// If a leading condition found only values of unsupported kinds, reads entries until it finds others: the run didn't
    /// test parts of conditions that couldn't change the result for an entry.
    private func findOtherKinds(in source: some QuerySource) throws {
        let conditions = chain.plan.pipeline.stages.prefix { if case .find = $0 { true } else { false } }
        guard !conditions.isEmpty else { return }
        chain.diagnostics.isPartial = false
        guard !chain.diagnostics.misfits.isEmpty else { return }
        let keys = options.looksBeyondKeys ? nil : chain.plan.keys
        let cursor = try keys.map(source.cursor(forKeys:)) ?? source.cursor(in: .storage)
        let whole = try QueryChain(
            chain.plan, cursor, options: options, memory: MemoryBudget(limit: options.memoryLimit),
            through: conditions.count, testsAll: true, into: RowSink())
        while chain.diagnostics.absorbKinds(of: whole.diagnostics), try cursor.advance() {
            whole.reader.next()
            _ = try whole.sinks[0].push(whole.reader)
            if cursor.visited % 1000 == 0 { try tell() }
        }
    }

    var missingProperties: MissingProperties {
        MissingProperties(
            pipeline: chain.plan.pipeline, unseen: chain.names.properties(seenByNoneOf: readers))
    }

    private var readers: [RowReader] { [chain.reader] + workers.map(\.chain.reader) }
    /// Without key paths, which check for exclusive access at each row.
    private func sum(_ figure: (RowReader) -> Int) -> Int { readers.reduce(0) { $0 + figure($1) } }

    // MARK: Reading entries

    private var memoryLimit: Int { chain.pool.memory.limit }

    private func readEntries() throws {
        var threads =
            options.measuresStages ? 1 : min(options.mostThreads ?? SharedWork.threads, Self.mostThreads)
        guard threads > 1, memoryLimit >= Self.leastMemory, let scan = chain.cursor as? EntryScan,
            scan.count >= 2 * Self.first,
            let division = QueryDivision(chain.plan)
        else {
            _ = try readSequentially()
            return
        }
        scan.move(to: 0..<Self.first)
        guard try readSequentially() else { return }
        let rest = Self.first..<scan.count
        threads = SharedWork.threadsWithinLimit(threads, bytes: memoryLimit)
        guard threads > 1, chain.pool.memory.used <= memoryLimit / 4,
            !chain.sinks.contains(where: \.hasFiles)
        else {
            scan.move(to: rest)
            _ = try readSequentially()
            return
        }
        workers = try (0..<threads).map { _ in
            try QueryWorker(
                chain.plan, scan.duplicate(), division, options: options,
                timeLimit: chain.diagnostics.timeLimit
            )
        }
        switch division {
        case .collecting(let place): try readInParallel(through: rest, to: place)
        case .merging(let place):
            for left in try divide(rest, upTo: place) {
                scan.move(to: left)
                chain.sinks[place].begin(at: left.lowerBound)
                guard try readSequentially() else { return }
            }
        }
    }

    /// Reads to the cursor's end. Returns whether the stages can use more rows.
    private func readSequentially() throws -> Bool {
        // Read them once: in the loop, each access would cost as much as the use.
        let (first, cursor, reader) = (chain.sinks[0], chain.cursor, chain.reader)
        let isToTell = options.progress != nil
        var count = 0
        var reported = ContinuousClock.now
        let (before, start) = (visitedAlone, cursor.visited)
        defer { visitedAlone = before + cursor.visited - start }
        while try cursor.advance() {
            reader.next()
            guard try first.push(reader) else { return false }
            guard isToTell else { continue }
            count += 1
            // Also by time, because a regular expression may take a tenth of a second for one text.
            guard count & 7 == 0, count % 1000 == 0 || reported.duration(to: .now) > .milliseconds(50) else {
                continue
            }
            reported = .now
            visitedAlone = before + cursor.visited - start
            try tell()
        }
        return true
    }

    /// Bytes that each worker may keep: together half of the limit.
    private var share: Int { memoryLimit / (2 * workers.count) }

    /// Each worker reads its part to the end; then merges the states of the stage at `place` in order. Returns the unread
    /// entries, in order: those beyond the memory limit, which need temporary files.
    private func divide(_ entries: Range<Int>, upTo place: Int) throws -> [Range<Int>] {
        let most = share
        for (number, worker) in workers.enumerated() {
            worker.begin(SharedWork.part(number, of: workers.count, entries))
            worker.chain.sinks[place].begin(at: worker.rest.lowerBound)
        }
        while !workers.allSatisfy(\.rest.isEmpty), !workers.contains(where: { $0.bytes >= most }) {
            try work(workers.filter { !$0.rest.isEmpty }, keeping: most)
        }
        for worker in workers {
            for number in 0...place { chain.sinks[number].count(rows: worker.chain.sinks[number].rowsIn) }
            chain.sinks[place].absorb(worker.chain.sinks[place])
        }
        return workers.map(\.rest).filter { !$0.isEmpty }
    }

    /// Workers read adjacent parts at the same time; their rows are passed on in the entries' order.
    private func readInParallel(through entries: Range<Int>, to place: Int) throws {
        let most = share
        defer {
            for worker in workers {
                for number in 0..<place {
                    chain.sinks[number].count(rows: worker.chain.sinks[number].rowsIn)
                }
                chain.sinks[place].count(rows: worker.repeated)
            }
        }
        // In the order of their parts; the first one's rows are passed on at once.
        var busy: [QueryWorker] = []
        var idle = workers
        var next = entries.lowerBound
        while true {
            while let worker = idle.last, next < entries.upperBound {
                idle.removeLast()
                let end = min(next + QueryWorker.part, entries.upperBound)
                worker.begin(next..<end)
                next = end
                busy.append(worker)
            }
            guard !busy.isEmpty else { return }
            try work(busy.filter { !$0.rest.isEmpty && $0.bytes < most }, keeping: most)
            while let worker = busy.first {
                guard try worker.passOn(to: chain.sinks[place], chain.reader) else { return }
                guard worker.rest.isEmpty else { break }
                idle.append(busy.removeFirst())
            }
        }
    }

    /// Runs the workers for 20 milliseconds.
    private func work(_ workers: [QueryWorker], keeping most: Int) throws {
        let deadline = ContinuousClock.now + .milliseconds(20)
        // Each worker is used by one thread at a time.
        nonisolated(unsafe) let workers = workers
        let running = QueryClock.running
        SharedWork.each(workers.count) { number in
            QueryClock.$running.withValue(running) { workers[number].work(until: deadline, keeping: most) }
        }
        for worker in workers { if let failure = worker.failure { throw failure } }
        try tell()
    }

    // MARK: Progress

    private var visited: Int { workers.reduce(visitedAlone) { $0 + $1.visited } }

    private func tell() throws {
        guard let progress = options.progress else { return }
        let state = QueryProgress(
            visited: visited, total: chain.cursor.count, rows: output.rows, bytesRead: sum { $0.bytesRead })
        guard progress(state) else { throw QueryError.cancelled }
    }

    private func report() -> QueryReport {
        let (diagnostics, pool) = (chain.diagnostics, chain.pool)
        let (damaged, oversized, tooLong) = (sum { $0.damaged }, sum { $0.oversized }, sum { $0.tooLong })
        let inMemoryOnly = sum { $0.inMemoryOnly }
        var report = QueryReport()
        report.threads = max(1, workers.count)
        report.rows = output.rows
        report.visited = visited
        report.valuesRead = sum { $0.valuesRead }
        report.bytesRead = sum { $0.bytesRead }
        report.unreadable = sum { $0.unreadable }
        report.damaged = damaged
        report.transcoded = sum { $0.transcoded }
        report.memory = pool.memory.peak
        report.temporary = pool.temporary.peak
        report.givenUp = diagnostics.timeLimit.givenUp
        report.warnings = diagnostics.warnings
        report.kindRemarks = diagnostics.remarks
        report.unevaluated = diagnostics.undecidedRows
        if damaged > 0 { report.warnings.append(chain.cursor.damageWarning(damaged)) }
        if tooLong > 0 {
            let first = readers.lazy.compactMap(\.firstTooLong).first.map {
                "; first: \(QueryText.quoted($0))"
            }
            let line =
                "\(tooLong) value\(tooLong == 1 ? "" : "s") not evaluated, too long for the query's memory\(first ?? "")"
            report.warnings.append(line)
            report.kindRemarks.append(line)
        }
        func warn(_ count: Int, _ one: String, _ many: String, _ problem: String) {
            if count > 0 { report.warnings.append("\(count) \(count == 1 ? one : many) \(problem)") }
        }
        warn(
            report.unreadable - damaged - oversized - tooLong, "value is", "values are",
            "not in the declared encoding, and matched nothing")
        warn(
            inMemoryOnly, "entry is", "entries are",
            "only in a process's memory: their values could not be queried")
        warn(
            oversized, "property list", "property lists",
            "could not be queried: nested too deeply, with too many parts, or expanding too much"
        )
        for (sink, next) in zip(chain.sinks, chain.sinks.dropFirst()) {
            report.stages.append(
                QueryReport.Stage(
                    text: sink.name, rowsIn: sink.rowsIn, rowsOut: next.rowsIn,
                    duration: options.measuresStages
                        ? .nanoseconds(Int64(sink.nanoseconds &- min(sink.nanoseconds, next.nanoseconds)))
                        : nil))
        }
        return report
    }
}
