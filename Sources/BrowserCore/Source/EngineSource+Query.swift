import ArchiveQuery
import StorageEngine
import StoreInspection

protocol QueriedSource: StoreSource {
    /// The plan of a query: with whole entries, or only metadata if values may not be read.
    func plan(_ request: QueryRequest) throws(SourceError) -> QueryPlan

    /// Nil when it was stopped.
    func run(
        _ plan: QueryPlan, _ request: QueryRequest, _ progress: (Double) -> Bool,
        _ body: (PassingRow) throws -> Void
    ) throws(SourceError) -> QueryReport?
}

extension QueriedSource {
    func plan(_ request: QueryRequest) throws(SourceError) -> QueryPlan { QueryPlan(request.pipeline) }

    package func query(
        _ request: QueryRequest, progress: (Double) -> Bool
    ) throws(SourceError) -> QueryResult? {
        let plan = try plan(request)
        var answer = QueryResult.Builder(plan)
        return try run(plan, request, progress, { answer.add($0.kept) }).map { answer.finish($0) }
    }

    package func export(
        _ request: QueryRequest, to file: OutputFile, progress: (Double) -> Bool
    ) throws(SourceError) -> QueryReport? {
        try plan(request).export(to: file) {
            plan, body throws(SourceError) in
            try run(plan, request, progress, body)
        }
    }
}

extension EngineSource: QueriedSource {
    func run(
        _ plan: QueryPlan, _ request: QueryRequest, _ progress: (Double) -> Bool,
        _ body: (PassingRow) throws -> Void
    ) throws(SourceError) -> QueryReport? {
        let archive = try archive(request.archive)
        return try plan.run(
            over: archive, progress: progress,
            damage: {
                var sample = try ArchiveSample(archive)
                sample.lostSegment = try archive.lostSegment()?.description
                return sample.damage
            }, body)
    }

    package func properties(in archive: ArchiveAddress) throws(SourceError) -> PropertySample {
        let archive = try self.archive(archive)
        do { return try PropertySample(of: archive) } catch { throw SourceError("\(error)") }
    }
}

extension QueryPlan {
    /// Writes the query's result to a file; nil if stopped.
    func export(
        to output: OutputFile, omitsAbsent: Bool = false,
        _ run: (QueryPlan, (PassingRow) throws -> Void) throws(SourceError) -> QueryReport?
    ) throws(SourceError) -> QueryReport? {
        let file = try output.create()
        // An unfinished file is removed.
        defer { file.discard() }
        var writer = QueryFormat(fileName: output.path)
            .writer(self, file.output, omitsAbsent: omitsAbsent, memoryLimit: QueryOptions().memoryLimit)
        guard let report = try run(self, { try writer.write($0) }) else { return nil }
        do { try writer.finish() } catch { throw SourceError("\(error)") }
        try file.finish()
        return report
    }

    /// Nil if stopped. `damage` is the first of the report's warnings.
    func run(
        over source: some QuerySource, progress: (Double) -> Bool, damage: () throws -> String?,
        _ body: (PassingRow) throws -> Void
    ) throws(SourceError) -> QueryReport? {
        do {
            return try withoutActuallyEscaping(progress) { progress in
                var options = QueryOptions()
                options.measuresStages = true
                options.looksForMistakes = true
                options.progress = { progress(Double($0.visited) / Double(max(1, $0.total))) }
                var report = try runInPlace(over: source, options: options) { row in
                    try body(row)
                    return true
                }
                if let damage = try damage() { report.warnings.insert(damage, at: 0) }
                return report
            }
        } catch QueryError.cancelled {
            return nil
        } catch {
            throw SourceError("\(error)")
        }
    }
}
