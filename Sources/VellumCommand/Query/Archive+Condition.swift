import ArchiveQuery

extension Archive {
    /// The entries that meet a condition, least recently used first. Reads the metadata of all entries.
    /// - Throws: also if a value can't be read, or if the condition probably has a mistake (`nmae != "x"`) and selects entries.
    func entries(meeting condition: String) throws -> [EntryFacts] {
        var entries: [EntryFacts] = []
        let report = try QueryPlan(try QueryProblem.condition(condition)).choose(from: self) {
            entries.append($0)
        }
        try Interruption.check()
        guard report.damaged == 0 else {
            throw CommandFailure(
                "\(name): the condition could not be evaluated for all entries, because some are damaged; "
                    + "run vellum check, or name keys", status: .storeFailure)
        }
        guard entries.isEmpty || !report.isDoubtful else {
            throw CommandFailure("nothing was done: the condition may contain a mistake", status: .usage)
        }
        entries.sort { $0.recency < $1.recency }
        return entries
    }
}

extension QueryPlan {
    /// Runs a condition that chooses entries; reports dates and warnings. Stops after a signal.
    /// - Throws: also if the condition can't be evaluated.
    func choose(from source: some QuerySource, _ body: (EntryFacts) throws -> Void) throws -> QueryReport {
        var options = QueryOptions()
        (options.looksForMistakes, options.looksBeyondKeys) = (true, true)
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
        for date in report.dates { Console.say(date) }
        for warning in report.warnings { Console.warn(warning) }
        return report
    }
}
