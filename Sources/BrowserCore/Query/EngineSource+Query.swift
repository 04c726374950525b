import ArchiveQuery
import CBOR
import StorageEngine

extension EngineSource {
    /// Most bytes of rows that a query may keep in memory.
    private static let queryMemory = 64 << 20

    public func query(
        _ request: QueryRequest, progress: (Double) -> Bool
    ) throws(SourceError) -> QueryAnswer? {
        let plan = QueryPlan(request.pipeline)
        var table = QueryTabulator(plan, now: .now())
        guard let report = try run(plan, request, progress, { table.add($0) }) else { return nil }
        return table.finish(report)
    }

    public func export(
        _ request: QueryRequest, to path: String, progress: (Double) -> Bool
    ) throws(SourceError) -> Int? {
        let plan = QueryPlan(request.pipeline)
        var file = try ResultFile(at: path, of: plan)
        do throws(SourceError) {
            let report = try run(plan, request, progress) { try file.add($0) }
            guard let report else {
                file.remove()
                return nil
            }
            try file.finish()
            return report.rows
        } catch {
            file.remove()
            throw error
        }
    }

    /// Nil when it was stopped.
    private func run(
        _ plan: QueryPlan, _ request: QueryRequest, _ progress: (Double) -> Bool,
        _ body: (QueryRow) throws -> Void
    ) throws(SourceError) -> QueryReport? {
        let archive = try archive(request.archive, of: request.store)
        do {
            return try withoutActuallyEscaping(progress) { progress in
                var options = QueryOptions()
                options.memoryLimit = EngineSource.queryMemory
                options.measuresStages = true
                options.progress = { progress(Double($0.visited) / Double(max(1, $0.total))) }
                return try plan.run(over: archive, options: options) { row in
                    try body(row)
                    return true
                }
            }
        } catch QueryError.cancelled {
            return nil
        } catch {
            throw SourceError("\(error)")
        }
    }

    public func properties(archive: String, store: String) throws(SourceError) -> [String] {
        let sample = QueryPipeline([.limit(PropertyNames.sample)])
        var names = PropertyNames()
        _ = try run(
            QueryPlan(sample), QueryRequest(sample, archive: archive, store: store), { _ in true }
        ) { row in
            if let value = row.value.flatMap({ try? CBORReader.decode($0) }) { names.add(value) }
        }
        return names.names
    }
}
