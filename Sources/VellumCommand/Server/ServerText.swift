import ServerInspection

enum ServerText {
    private static func members(_ figures: ServerFigures) -> [(name: String, value: Cell)] {
        [
            ("server", .text(figures.product)), ("role", .text(figures.role)),
            ("uptime", .interval(figures.uptime)), ("memoryBytes", .bytes(figures.memory)),
            ("memoryLimit", Cell(bytes: figures.memoryLimit)), ("policy", .text(figures.policy)),
            ("clients", .count(UInt64(clamping: figures.clients))), ("hits", .count(figures.hits)),
            ("misses", .count(figures.misses)), ("evictions", .count(figures.evictions)),
            ("expirations", .count(figures.expirations)), ("commands", .count(figures.commands)),
            ("entries", .count(UInt64(clamping: figures.databases.reduce(0) { $0 + $1.keys }))),
        ]
    }

    static func write(
        _ figures: ServerFigures, at time: Timestamp, json: Bool, to output: OutputWriter
    ) throws {
        let members = members(figures)
        if json { return try JSONTree.cells([("time", .time(time))] + members).writeLine(to: output) }
        try output.write(members)
        if let remark = figures.remark { Console.warn(remark) }
    }

    static func write(
        _ now: ServerFigures, since before: ServerFigures, seconds: Double, _ json: Bool,
        to output: OutputWriter
    ) throws {
        let seconds = max(1e-3, seconds)
        // A restarted server counts from 0.
        func rate(_ counter: KeyPath<ServerFigures, UInt64>) -> Double {
            let (new, old) = (now[keyPath: counter], before[keyPath: counter])
            return Double(new >= old ? new - old : new) / seconds
        }
        let cells: [(name: String, value: Cell)] = [
            ("time", .time(.now())),
            ("entries", .count(UInt64(clamping: now.databases.reduce(0) { $0 + $1.keys }))),
            ("memoryBytes", .bytes(now.memory)), ("hits", .rate(rate(\.hits))),
            ("misses", .rate(rate(\.misses))),
            ("commands", .rate(rate(\.commands))), ("evictions", .rate(rate(\.evictions))),
            ("expirations", .rate(rate(\.expirations))),
        ]
        if json { return try JSONTree.cells(cells).writeLine(to: output) }
        let line = cells.map { output.isTerminal ? "\($0.name) \($0.value.human)" : $0.value.plain }
        try output.write(line.joined(separator: output.isTerminal ? "  " : "\t") + "\n")
    }
}
