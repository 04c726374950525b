import TerminalKit

enum StatsText {
    private static let processColumns = [
        Column("name", title: "PROCESS"), Column("pid", title: "PID"),
        Column("attached", title: "ATTACHED", dropped: 1),
        Column("hits", title: "HITS"), Column("misses", title: "MISSES"),
        Column("memoryBytes", title: "MEMORY"), Column("memoryLimit", title: "LIMIT"),
    ]
    private static let ownerColumns = [
        Column("owner", title: "OWNER"), Column("entries", title: "ENTRIES"), Column("bytes", title: "SIZE"),
        Column("hits", title: "HITS"),
    ]

    static func write(_ sample: ArchiveSample, to output: OutputWriter) throws(SourceError) {
        let status = sample.status
        let configuration = status.configuration
        let notation = status.latestEncoding?.label.map { ", values as \($0)" } ?? ""
        let type = (configuration.typeName.isEmpty ? "" : " of \(configuration.typeName)") + notation
        try output.write(TerminalText.sanitized("\(status.name): a \(configuration.kind)\(type)") + "\n")
        let processes =
            sample.runningProcesses.isEmpty ? [("processes", "no process has it open for writing")] : []
        for line in FactLines.lines(facts(sample) + processes) { try output.write("  \(line)\n") }
        if !sample.runningProcesses.isEmpty {
            var rows = RowPrinter(processColumns, layout: .table, output: output, indent: "  ")
            for process in sample.runningProcesses {
                let cells = process.members.map(\.value)
                try rows.print([cells[1], cells[0]] + cells[2...])
            }
            try output.write("\n")
            try rows.end()
        }
        guard let owners = sample.owners, !owners.isEmpty else { return }
        try output.write("\n")
        var rows = RowPrinter(ownerColumns, layout: .table, output: output, indent: "  ")
        for owner in owners {
            var cells = owner.members.map(\.value)
            if owner.owner == nil { cells[0] = .text("(none)") }
            try rows.print(cells)
        }
        try rows.end()
    }

    private static func facts(_ sample: ArchiveSample) -> [(name: String, value: String)] {
        func share(_ bytes: UInt64, of limit: UInt64?) -> String {
            Figures.share(bytes, of: limit) + (limit == nil ? ", no limit" : "")
        }
        let isLog = sample.kind == .log
        var facts = [
            (isLog ? "messages" : "entries", Figures.count(sample.entries)),
            ("disk", share(sample.diskBytes, of: sample.diskLimit)),
        ]
        if !isLog {
            let limit = sample.memoryLimit.map { ", at most \(Figures.bytes($0)) a process" } ?? ", no limit"
            if sample.evictionPolicy != .lru { facts.append(("eviction", "\(sample.evictionPolicy)")) }
            facts.append(("memory", Figures.bytes(sample.memoryBytes) + limit))
        }
        return facts + sample.facts
    }

    static func plain(_ sample: ArchiveSample) -> String {
        let rows =
            sample.members.dropFirst().map { [$0.name, $0.value.plain] }
            + sample.runningProcesses.map { ["process"] + $0.members.map(\.value.plain) }
            + (sample.owners ?? []).map { ["owner"] + $0.members.map(\.value.plain) }
        let name = TerminalSafe.column(sample.status.name)
        return rows.map { ([name] + $0).joined(separator: "\t") + "\n" }.joined()
    }
}
