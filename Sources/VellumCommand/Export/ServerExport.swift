import ArchiveQuery
import CBOR
import ServerInspection

/// Exports the keys of a server's database; reads each key in one step. For one thread.
struct ServerExport {
    let database: ServerDatabase
    let output: OutputWriter
    let wrapsKeys: Bool
    /// Whether type, expiry time and the server's serialized form are written.
    let isLossless: Bool
    let touches: Bool

    func run(_ condition: String?, isArray: Bool) throws -> Exporter.Outcome {
        if !touches, let reason = try database.unreadableReason() {
            throw CommandFailure("\(reason); --touch exports the values", status: .usage)
        }
        let stages = try condition.map { try QueryProblem.condition($0).stages } ?? []
        let plan = QueryPlan(QueryPipeline(stages + [.select([])]))
        var outcome = Exporter.Outcome()
        var losses: Losses = (0, 0)
        var records = JSONRecords(isArray: isArray, output: output)
        var options = QueryOptions()
        options.progress = { _ in !Interruption.isRequested }
        do {
            let report = try plan.run(over: database.query(plan, touches: touches), options: options) { row in
                guard let key = row.entry?.key else { return true }
                do {
                    guard let record = try record(of: key, &losses) else { return true }
                    try records.write(record)
                    outcome.exported += 1
                } catch let error as SourceError {
                    // Other keys may be readable, but not without the server: each would wait for it.
                    _ = try database.connection.serverNumber()
                    Console.warn("\(TerminalSafe.quoted(key)) is left out: \(error)")
                    outcome.damaged += 1
                }
                return true
            }
            for warning in report.warnings { Console.warn(warning) }
            outcome.damaged += report.damaged
        } catch QueryError.cancelled {
            throw CommandFailure.interrupted
        }
        try records.finish()
        Exporter.warn(ofChanged: losses.changed, keptBy: "export --lossless keeps")
        Exporter.warn(ofRepeating: losses.repeating, keptBy: "export --lossless keeps")
        return outcome
    }

    /// Values that an import reads as something else, and those with duplicate names.
    private typealias Losses = (changed: Int, repeating: Int)

    /// Returns the record of a key; nil if the key is absent.
    private func record(of key: String, _ losses: inout Losses) throws -> JSONTree? {
        if isLossless {
            guard let dump = try database.connection.dumped(KeyName.bytes(key), in: database.number) else {
                return nil
            }
            return .object([
                (Exporter.keyName, .text(key)), ("type", .text(dump.type)),
                ("expires", dump.expires.map { .count($0) } ?? .cell(.absent)),
                ("dump", .text(Data(dump.bytes).base64EncodedString())),
            ])
        }
        guard let (_, value) = try database.value(of: key) else { return nil }
        if let problem = value.shortage ?? (value.isUnreadable ? value.origin : nil) {
            throw SourceError(problem)
        }
        if let doubt = value.doubt { Console.warn("\(TerminalSafe.quoted(key)): \(doubt)") }
        let item = RecognizedValue(value.bytes, encoding: value.encoding).item
        if value.encoding == .cbor, item.withUnsafeBytes({ JSONForms(of: $0).isChanged }) {
            losses.changed += 1
        }
        if item.withUnsafeBytes(CBORReader.repeatsName) { losses.repeating += 1 }
        let json = JSONTree.cell(.item(item))
        return wrapsKeys ? .object([(Exporter.keyName, .text(key)), (Exporter.valueName, json)]) : json
    }
}
