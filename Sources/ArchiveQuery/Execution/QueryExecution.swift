import CBOR
import StorageEngine

/// A single run of a plan. Not thread-safe. Of a large archive only the first entries are the caller's thread's.
final class QueryExecution {
    private let options: QueryOptions
    private let output: OutputSink
    private let chain: QueryChain
    /// Who goes through the entries besides, if anybody does.
    private var members: [QueryMember] = []
    /// Entries that the chain's own cursor has visited.
    private var visitedAlone = 0

    private static let mostThreads = 64
    /// With less there would be next to nothing for each of several.
    private static let leastMemory = 1 << 20
    /// The first entries, which are the caller's thread's alone.
    private static let first = 8192

    init(
        _ plan: QueryPlan, _ cursor: any QueryCursor, options: QueryOptions,
        body: @escaping (PassingRow) throws -> Bool
    ) throws {
        self.options = options
        output = OutputSink(
            hasColumns: plan.columns != nil, isTimed: options.measuresStages, body: body)
        chain = try QueryChain(
            plan, cursor, options: options,
            room: plan.pipeline.stages.allSatisfy(\.isOfSingleRows)
                ? MemoryBudget(limit: options.memoryLimit) : MemoryBudget(bearable: options.memoryLimit),
            into: output)
    }

    func run() throws -> QueryReport {
        try goThroughEntries()
        try chain.sinks[0].end()
        return report()
    }

    var missingProperties: MissingProperties {
        MissingProperties(
            chain.plan.pipeline, chain.names, unseen: chain.names.properties(seenByNoneOf: readers))
    }

    private var readers: [RowReader] { [chain.reader] + members.map(\.chain.reader) }
    /// No key paths: what they lead to would be checked for exclusive access at each row.
    private func sum(_ figure: (RowReader) -> Int) -> Int { readers.reduce(0) { $0 + figure($1) } }

    // MARK: Going through the entries

    private var memoryLimit: Int { chain.room.memory.limit }

    private func goThroughEntries() throws {
        var threads =
            options.measuresStages ? 1 : min(options.mostThreads ?? SharedWork.threads, Self.mostThreads)
        guard threads > 1, memoryLimit >= Self.leastMemory, let scan = chain.cursor as? EntryScan,
            scan.count >= 2 * Self.first,
            let division = QueryDivision(chain.plan)
        else {
            _ = try goAlone()
            return
        }
        scan.go(to: 0..<Self.first)
        guard try goAlone() else { return }
        let rest = Self.first..<scan.count
        threads = SharedWork.bearable(threads, bytes: memoryLimit)
        guard threads > 1, chain.room.memory.used <= memoryLimit / 4,
            !chain.sinks.contains(where: \.hasFiles)
        else {
            scan.go(to: rest)
            _ = try goAlone()
            return
        }
        members = try (0..<threads).map { _ in
            try QueryMember(
                chain.plan, scan.twin(), division, options: options, patience: chain.answers.patience)
        }
        switch division {
        case .collecting(let place): try goTogether(through: rest, to: place)
        case .merging(let place):
            for left in try divide(rest, upTo: place) {
                scan.go(to: left)
                chain.sinks[place].begin(at: left.lowerBound)
                guard try goAlone() else { return }
            }
        }
    }

    /// Goes to the cursor's end. Returns whether the stages can use other rows.
    private func goAlone() throws -> Bool {
        // Taken out of the loop: to reach them takes as long as what is done with them.
        let (first, cursor, reader) = (chain.sinks[0], chain.cursor, chain.reader)
        let isToTell = options.progress != nil
        var count = 0
        var told = ContinuousClock.now
        let (before, start) = (visitedAlone, cursor.visited)
        defer { visitedAlone = before + cursor.visited - start }
        while try cursor.advance() {
            reader.next()
            guard try first.push(reader) else { return false }
            guard isToTell else { continue }
            count += 1
            // Also by time, because a regular expression may take a tenth of a second for one text.
            guard count & 7 == 0, count % 1000 == 0 || told.duration(to: .now) > .milliseconds(50) else {
                continue
            }
            told = .now
            visitedAlone = before + cursor.visited - start
            try tell()
        }
        return true
    }

    /// Bytes that each member may keep: together half of what all may.
    private var share: Int { memoryLimit / (2 * members.count) }

    /// Each member goes through a part of its own to the end, and what the stage at `place` has collected of them is put together
    /// in their order. Returns the entries that were left, in order: where memory didn't suffice, which needs temporary files.
    private func divide(_ entries: Range<Int>, upTo place: Int) throws -> [Range<Int>] {
        let room = share
        for (number, member) in members.enumerated() {
            member.begin(SharedWork.part(number, of: members.count, entries))
            member.chain.sinks[place].begin(at: member.rest.lowerBound)
        }
        while !members.allSatisfy(\.rest.isEmpty), !members.contains(where: { $0.bytes >= room }) {
            try work(members.filter { !$0.rest.isEmpty }, room: room)
        }
        for member in members {
            for number in 0...place { chain.sinks[number].count(rows: member.chain.sinks[number].rowsIn) }
            chain.sinks[place].absorb(member.chain.sinks[place])
        }
        return members.map(\.rest).filter { !$0.isEmpty }
    }

    /// Members go through adjacent parts at the same time, and what they found is passed on in the entries' order.
    private func goTogether(through entries: Range<Int>, to place: Int) throws {
        let room = share
        defer {
            for member in members {
                for number in 0..<place {
                    chain.sinks[number].count(rows: member.chain.sinks[number].rowsIn)
                }
                chain.sinks[place].count(rows: member.repeated)
            }
        }
        // In the order of their parts; the first one's rows are passed on at once.
        var busy: [QueryMember] = []
        var idle = members
        var next = entries.lowerBound
        while true {
            while let member = idle.last, next < entries.upperBound {
                idle.removeLast()
                let end = min(next + QueryMember.part, entries.upperBound)
                member.begin(next..<end)
                next = end
                busy.append(member)
            }
            guard !busy.isEmpty else { return }
            try work(busy.filter { !$0.rest.isEmpty && $0.bytes < room }, room: room)
            while let member = busy.first {
                guard try member.passOn(to: chain.sinks[place], chain.reader) else { return }
                guard member.rest.isEmpty else { break }
                idle.append(busy.removeFirst())
            }
        }
    }

    /// Lets them work for a moment.
    private func work(_ members: [QueryMember], room: Int) throws {
        let deadline = ContinuousClock.now + .milliseconds(20)
        // Each is used by one thread at a time, and by this one only before and after.
        nonisolated(unsafe) let members = members
        let running = QueryClock.running
        SharedWork.each(members.count) { number in
            QueryClock.$running.withValue(running) { members[number].work(until: deadline, room: room) }
        }
        for member in members { if let failure = member.failure { throw failure } }
        try tell()
    }

    // MARK: What is told

    private var visited: Int { members.reduce(visitedAlone) { $0 + $1.visited } }

    private func tell() throws {
        guard let progress = options.progress else { return }
        let state = QueryProgress(
            visited: visited, total: chain.cursor.count, rows: output.rows, bytesRead: sum { $0.bytesRead })
        guard progress(state) else { throw QueryError.cancelled }
    }

    private func report() -> QueryReport {
        for member in members { chain.answers.absorb(member.chain.answers) }
        let (answers, room) = (chain.answers, chain.room)
        let (damaged, oversized, tooLong) = (sum { $0.damaged }, sum { $0.oversized }, sum { $0.tooLong })
        let inMemoryOnly = sum { $0.inMemoryOnly }
        var report = QueryReport()
        report.threads = max(1, members.count)
        report.rows = output.rows
        report.visited = visited
        report.valuesRead = sum { $0.valuesRead }
        report.bytesRead = sum { $0.bytesRead }
        report.unreadable = sum { $0.unreadable }
        report.damaged = damaged
        report.transcoded = sum { $0.transcoded }
        report.memory = room.memory.peak
        report.temporary = room.temporary.peak
        report.givenUp = answers.patience.givenUp
        report.warnings = answers.warnings
        report.kindRemarks = answers.remarks
        report.unevaluated = answers.undecidedRows
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
        let invalid = report.unreadable - damaged - oversized - tooLong
        if invalid > 0 {
            report.warnings.append(
                "\(invalid) value\(invalid == 1 ? " is" : "s are") not what the encoding says, and matched nothing"
            )
        }
        if inMemoryOnly > 0 {
            report.warnings.append(
                "\(inMemoryOnly) entr\(inMemoryOnly == 1 ? "y is" : "ies are") in the memory of a process only: their "
                    + "values could not be queried")
        }
        if oversized > 0 {
            report.warnings.append(
                "\(oversized) property list\(oversized == 1 ? "" : "s") could not be queried: nested too deeply, of "
                    + "too many parts, or made to expand to many times its size")
        }
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
