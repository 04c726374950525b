import BrowserCore
import StorageEngine
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
    static func write(_ sample: ArchiveSample, to output: OutputWriter) throws(CommandFailure) {
        let status = sample.status
        let configuration = status.configuration
        let notation =
            status.latestEncoding.flatMap { ValueNotation($0).name }.map { ", values as \($0)" } ?? ""
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
                let cells = ArchiveSample.members(of: process).map(\.value)
                try rows.print([cells[1], cells[0]] + cells[2...])
            }
            try output.write("\n")
            try rows.finish()
        }
        guard let owners = sample.owners, !owners.isEmpty else { return }
        try output.write("\n")
        var rows = RowPrinter(ownerColumns, layout: .table, output: output, indent: "  ")
        for owner in owners {
            var cells = ArchiveSample.members(of: owner).map(\.value)
            if owner.owner == nil { cells[0] = .text("(none)") }
            try rows.print(cells)
        }
        try rows.finish()
    }

    private static func facts(_ sample: ArchiveSample) -> [(String, String)] {
        let status = sample.status
        let configuration = status.configuration
        func of(_ bytes: UInt64, _ limit: UInt64?) -> String {
            HumanText.size(bytes) + (limit.map { " of \(HumanText.size($0))" } ?? ", no limit")
        }
        let ratio = sample.hitRatio.map { ", hit ratio \(HumanText.fixed($0, digits: 3))" } ?? ""
        let isLog = configuration.kind == .log
        var facts = [
            (isLog ? "messages" : "entries", "\(status.entries)"),
            ("disk", of(status.diskBytes, configuration.diskLimit)),
        ]
        if !isLog {
            facts.append(
                (
                    "memory",
                    HumanText.size(status.memoryBytes)
                        + (configuration.memoryLimit.map { ", at most \(HumanText.size($0)) a process" }
                            ?? ", no limit")
                ))
        }
        facts.append(("footprint", HumanText.size(status.footprint)))
        if isLog {
            facts.append(
                (
                    "changes",
                    "\(status.records) appended, \(status.evictions) dropped, \(status.rejections) refused"
                ))
            return facts
        }
        facts.append(("accesses", "\(status.hits) hits, \(status.misses) misses\(ratio)"))
        facts.append(
            (
                "changes",
                HumanText.count(status.records, "record", "records") + ", "
                    + HumanText.count(status.deletes, "delete", "deletes") + ", "
                    + HumanText.count(status.expirations, "expiration", "expirations")
            ))
        facts.append(
            (
                "limit",
                HumanText.count(status.evictions, "eviction", "evictions") + ", "
                    + HumanText.count(status.rejections, "rejection", "rejections")
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
            let cells = ArchiveSample.members(of: process).map(\.value.plain)
            text += "\(name)\tprocess\t" + cells.joined(separator: "\t") + "\n"
        }
        for owner in sample.owners ?? [] {
            let cells = ArchiveSample.members(of: owner).map(\.value.plain)
            text += "\(name)\towner\t" + cells.joined(separator: "\t") + "\n"
        }
        return text
    }
}
