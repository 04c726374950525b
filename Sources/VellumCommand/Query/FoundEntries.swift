import ArchiveQuery

struct FoundEntries {
    /// Least recently used first.
    private(set) var entries: [EntryMetadata] = []

    /// Reads the metadata of all entries, without access records.
    /// - Throws: also if a value can't be read, or if the condition probably has a mistake (`nmae != "x"`) and selects entries.
    init(_ condition: String, in archive: Archive) throws {
        let plan = QueryPlan(try QueryProblem.condition(condition))
        let report = try plan.choose(from: archive) { facts in
            if entries.count == entries.capacity {
                // Doubling the list needs three times its size, and the copy made of it as much again.
                let room = 4 * entries.count
                let bytes = MemoryLayout<EntryMetadata>.stride
                guard AddressPressure.bearable(room, least: 0, bytesEach: bytes) == room else {
                    throw AddressPressure.lack("keep more than \(entries.count) entries of", archive.name)
                }
            }
            entries.append(EntryMetadata(facts))
        }
        try Interruption.check()
        guard report.damaged == 0 else {
            throw CommandFailure(
                "\(archive.name): the condition could not be evaluated for all entries, because some are damaged; "
                    + "run vellum check, or name keys", status: .storeFailure)
        }
        guard entries.isEmpty || !report.isDoubtful else {
            throw CommandFailure("no entry was chosen, because the condition may be mistaken", status: .usage)
        }
        entries.sort { $0.recency < $1.recency }
    }
}

extension QueryPlan {
    /// Runs a condition that chooses entries; reports dates and warnings. Stops after a signal.
    /// - Throws: also if the condition can't be evaluated.
    func choose(
        from source: some QuerySource, _ body: (EntryFacts) throws -> Void
    ) throws -> QueryReport {
        var options = QueryOptions()
        options.looksForMistakes = true
        // Checked also if no entry matches.
        options.progress = { _ in !Interruption.isRequested }
        let report: QueryReport
        do {
            report = try run(over: source, options: options) { row in
                if let facts = row.entry { try body(facts) }
                return !Interruption.isRequested
            }
        } catch let error as QueryError {
            try Interruption.check()
            throw CommandFailure(error.description, status: .usage)
        }
        for date in report.dates { Narration.say(date) }
        for warning in report.warnings { Narration.complain(warning) }
        return report
    }
}

extension EntryMetadata {
    fileprivate init(_ facts: EntryFacts) {
        self.init(
            key: facts.key, valueBytes: facts.valueBytes, recorded: facts.created, sequence: facts.sequence)
        encoding = facts.encoding
        accessed = facts.accessed
        expires = facts.expires
        hits = facts.hits
        owner = facts.owner
        rank = facts.rank
        recency = facts.recency
        tier = facts.tier
    }
}
