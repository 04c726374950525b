import ArchiveQuery
import CBOR
import StorageEngine

/// P9: a query of all entries on disk, with one thread, without decoded values, and with files in the page cache; an
/// operation is an entry. Ours verifies the checksum of each entry, which is all that the limit does. Times are the thread's
/// processor time.
///
/// Then typical queries, with Vellum's default number of threads and with one; times are elapsed.
///
/// Then ours again while another thread overwrites cities with equal values at full speed, so that the result must be the
/// same.
struct QueryWorkload {
    static let name = CityQuestion.conditions.name
    static let beside = "P9 query beside a writer"
    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(QueryWorkload.name) else { return [] }
        plan.say("P9: filling")
        let system = try VellumSystem(at: plan.scratch.fresh("query-vellum"))
        defer { system.close() }
        let tables = try CityTables(at: plan.scratch.fresh("query-sqlite"), mapBytes: 4 * plan.mapBytes)
        defer { tables.close() }
        let cities = try QueryWorkload.cities(plan)
        for city in cities {
            try system.archive.put(
                CBOREncoder().encode(city), forKey: String(city.geonameid), encoding: .cbor)
        }
        try tables.load(cities)
        let programs = QueryPrograms(in: try plan.scratch.fresh("query-programs"))
        try programs.load(cities)
        let measured =
            try measure(system, tables)
            + CityQuestion.usual.flatMap {
                try measure($0, system.archive, tables, programs)
            }
        let stored = try cities.prefix(100_000).map {
            (key: String($0.geonameid), value: try CBOREncoder().encode($0))
        }
        return measured + [try measureBesideWriter(system.archive, stored, quiet: measured[0].median)]
    }

    /// A city for each entry: those of the demonstration repeated, each with a unique number and population.
    private static func cities(_ plan: Plan) throws -> some Sequence<City> {
        let all = try City.all()
        return (0..<plan.entries).lazy.map { number in
            var city = all[number % all.count]
            city.geonameid = number
            city.population += number / all.count
            return city
        }
    }

    private typealias Answer = (rows: [String], bytes: Int, nanoseconds: Double)

    /// With one thread; measures its processor time.
    private func ask(_ query: QueryPlan, _ archive: Archive) throws -> Answer {
        var found: Answer = ([], 0, 0)
        let time = try Clock.processorNanoseconds { found = try answer(query, archive, threads: 1) }
        return (found.rows, found.bytes, time)
    }

    /// Measures the elapsed time.
    private func answer(_ query: QueryPlan, _ archive: Archive, threads: Int?) throws -> Answer {
        var options = QueryOptions()
        options.mostThreads = threads
        var answer: Answer = ([], 0, 0)
        answer.nanoseconds = try Clock.nanoseconds {
            let (rows, report) = try query.rows(of: archive, options: options)
            answer.rows = try rows.map(Self.text)
            answer.bytes = report.bytesRead
        }
        return answer
    }

    /// The key, or the first columns.
    private static func text(_ row: QueryRow) throws -> String {
        if let key = row.entry?.key, row.columns.isEmpty { return key }
        return try row.columns.prefix(2).map { column in
            switch try column.map({ try CBORReader.decode($0) }) {
            case .text(let text): text
            case .unsigned(let number): String(number)
            default: ""
            }
        }.joined(separator: " ")
    }

    private func measure(
        _ question: CityQuestion, _ archive: Archive, _ tables: CityTables, _ programs: QueryPrograms
    ) throws -> [Measurement] {
        let query = QueryPlan(try QueryPipeline(question.query))
        var measured = ["Vellum", "Vellum, one thread"].map { Measurement(question.name, $0) }
        measured += CityTables.Form.allCases.map { Measurement(question.name, $0.name) }
        var answered: [String] = []
        for run in plan.runsAfterWarmUp(question.name) {
            let (rows, bytes, time) = try answer(query, archive, threads: nil)
            let expected = question.isUnordered ? rows.sorted() : rows
            var times = [time]
            func compare(_ rows: [String], _ time: Double, _ system: String) throws {
                guard (question.isUnordered ? rows.sorted() : rows) == expected else {
                    throw BenchmarkError("\(question.name): \(system) finds \(rows), not \(expected)")
                }
                times.append(time)
            }
            let alone = try answer(query, archive, threads: 1)
            try compare(alone.rows, alone.nanoseconds, "one thread")
            for form in CityTables.Form.allCases {
                var theirs: [String] = []
                let time = try Clock.nanoseconds { theirs = try tables.answer(question.statement, form) }
                try compare(theirs, time, form.name)
            }
            answered = expected
            guard run > 0 else { continue }
            for place in measured.indices {
                measured[place].add(nanoseconds: times[place], ops: 1, bytes: bytes)
            }
        }
        for place in measured.indices.dropFirst() {
            let ratio = measured[place].median / measured[0].median
            measured[place].ratio = ratio
            // The last system has native columns.
            if place == measured.count - 1 { measured[place].verdict = .faster(by: 1, ratio: ratio) }
        }
        return try measured + measure(question, programs, answered, alone: measured[1].median)
    }

    /// Results of other programs, compared with ours on one thread.
    private func measure(
        _ question: CityQuestion, _ programs: QueryPrograms, _ expected: [String], alone: Double
    ) throws -> [Measurement] {
        var measured: [Measurement] = []
        func add(_ name: String, _ rows: [String], _ times: [Double]) throws {
            guard (question.isUnordered ? rows.sorted() : rows) == expected else {
                throw BenchmarkError("\(question.name): \(name) finds \(rows), not \(expected)")
            }
            var measurement = Measurement(question.name, name)
            for time in times { measurement.add(nanoseconds: time) }
            measurement.ratio = measurement.median / alone
            measured.append(measurement)
        }
        plan.say("\(question.name): other programs")
        if let duck = try programs.duckDB(question, runs: plan.runs) {
            try add("DuckDB, one thread ÷ one", duck.rows, duck.nanoseconds)
        }
        if let jq = try programs.jq(question) { try add("jq ÷ one thread", jq.rows, [jq.nanoseconds]) }
        return measured
    }

    private func measureBesideWriter(
        _ archive: Archive, _ stored: [(key: String, value: [UInt8])], quiet: Double
    ) throws -> Measurement {
        let query = QueryPlan(try QueryPipeline(CityQuestion.conditions.query))
        let expected = try ask(query, archive).rows
        var result = Measurement(QueryWorkload.beside, "Vellum")
        for run in 0..<plan.runs {
            plan.say("\(QueryWorkload.beside): run \(run + 1) of \(plan.runs)")
            let writer = Background { round in
                let city = stored[round * 7919 % stored.count]
                try archive.put(city.value, forKey: city.key, encoding: .cbor)
            }
            let (keys, bytes, time) = try ask(query, archive)
            let puts = try writer.end()
            guard keys == expected, puts > 0 else {
                throw BenchmarkError("P9: beside \(puts) puts it finds \(keys), not \(expected)")
            }
            result.add(nanoseconds: time, ops: plan.entries, bytes: bytes)
        }
        result.ratio = result.median / quiet
        return result
    }

    private func measure(_ system: VellumSystem, _ tables: CityTables) throws -> [Measurement] {
        let archive = system.archive
        let files = try OpeningWorkload.files(of: system.store.path)
        let limit = try LimitFiles(files.segments, bytes: files.bytes)
        let question = CityQuestion.conditions
        let query = QueryPlan(try QueryPipeline(question.query))
        var ours = Measurement(QueryWorkload.name, "Vellum")
        var peers = CityTables.Form.allCases.map { Measurement(QueryWorkload.name, $0.name) }
        peers.append(Measurement(QueryWorkload.name, LimitSystem.name))
        for run in plan.runsAfterWarmUp("P9") {
            let (keys, bytes, time) = try ask(query, archive)
            if run > 0 { ours.add(nanoseconds: time, ops: plan.entries, bytes: bytes) }
            for (place, form) in CityTables.Form.allCases.enumerated() {
                var theirs: [String] = []
                let time = try Clock.processorNanoseconds {
                    theirs = try tables.answer(question.statement, form)
                }
                guard theirs == keys else {
                    throw BenchmarkError("P9: \(form.name) finds \(theirs), not \(keys)")
                }
                if run > 0 { peers[place].add(nanoseconds: time, ops: plan.entries, bytes: bytes) }
            }
            let least = try Clock.processorNanoseconds { try limit.scan(entries: plan.entries) }
            if run > 0 {
                peers[peers.count - 1].add(
                    nanoseconds: least, ops: plan.entries, bytes: files.bytes)
            }
        }
        var all = [ours] + peers
        let bars = zip(CityTables.Form.allCases.map(\.name), [10, 1.2])
        all.compare(bars: Dictionary(uniqueKeysWithValues: bars))
        return all
    }
}
