import StorageEngine
import StoreInspection
import TerminalKit

/// Stateless; safe from any thread. An archive's figures as text.
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

    /// For a terminal.
    static func write(_ sample: ArchiveSample, to output: OutputWriter) throws(SourceError) {
        let status = sample.status
        let configuration = status.configuration
        let notation =
            status.latestEncoding?.label.map { ", values as \($0)" } ?? ""
        let type = (configuration.typeName.isEmpty ? "" : " of \(configuration.typeName)") + notation
        try output.write(TerminalText.sanitized("\(status.name): a \(configuration.kind)\(type)") + "\n")
        for (name, value) in facts(sample) {
            try output.write("  \(name)" + String(repeating: " ", count: 11 - name.count) + value + "\n")
        }
        if sample.living.isEmpty {
            try output.write("  processes  none has it open for writing\n")
        } else {
            var rows = RowPrinter(processColumns, layout: .table, output: output, indent: "  ")
            for process in sample.living {
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

    private static func facts(_ sample: ArchiveSample) -> [(String, String)] {
        let status = sample.status
        let configuration = status.configuration
        func of(_ bytes: UInt64, _ limit: UInt64?) -> String {
            Figures.bytes(bytes) + (limit.map { " of \(Figures.bytes($0))" } ?? ", no limit")
        }
        let ratio = status.hitRatio.map { ", hit ratio \(Figures.fixed($0, digits: 3))" } ?? ""
        let isLog = configuration.kind == .log
        var facts = [
            (isLog ? "messages" : "entries", Figures.count(status.entries)),
            ("disk", of(status.diskBytes, configuration.diskLimit)),
        ]
        if !isLog {
            facts.append(
                (
                    "memory",
                    Figures.bytes(status.memoryBytes)
                        + (configuration.memoryLimit.map { ", at most \(Figures.bytes($0)) a process" }
                            ?? ", no limit")
                ))
        }
        facts.append(("footprint", Figures.bytes(status.footprint)))
        if isLog {
            facts.append(
                (
                    "changes",
                    "\(Figures.count(status.records)) appended, \(Figures.count(status.evictions)) dropped, "
                        + "\(Figures.count(status.rejections)) rejected"
                ))
            return facts
        }
        facts.append(
            ("accesses", "\(Figures.count(status.hits)) hits, \(Figures.count(status.misses)) misses\(ratio)")
        )
        facts.append(
            (
                "changes",
                Figures.count(status.records, "record", "records") + ", "
                    + Figures.count(status.deletes, "delete", "deletes") + ", "
                    + Figures.count(status.expirations, "expiration", "expirations")
            ))
        facts.append(
            (
                "limit",
                Figures.count(status.evictions, "eviction", "evictions") + ", "
                    + Figures.count(status.rejections, "rejection", "rejections")
            ))
        return facts
    }

    /// For a pipe.
    static func plain(_ sample: ArchiveSample) -> String {
        let name = sample.status.name
        var text = ""
        for member in sample.members.dropFirst() {
            text += "\(name)\t\(member.name)\t\(member.value.plain)\n"
        }
        for process in sample.living {
            let cells = process.members.map(\.value.plain)
            text += "\(name)\tprocess\t" + cells.joined(separator: "\t") + "\n"
        }
        for owner in sample.owners ?? [] {
            let cells = owner.members.map(\.value.plain)
            text += "\(name)\towner\t" + cells.joined(separator: "\t") + "\n"
        }
        return text
    }
}
