struct EventPrinter {
    private let layout: RowLayout
    private let output: OutputWriter
    private var rows: RowPrinter
    private var names: [ExactText: ProcessNames] = [:]

    private static let lost = "lost"

    init(_ columns: [Column], layout: RowLayout, output: OutputWriter) {
        self.layout = layout
        self.output = output
        rows = RowPrinter(live: columns, layout: layout, output: output)
    }

    mutating func begin() throws {
        try rows.printTitles()
        try output.flush()
    }

    /// Prints at most `most` events in order of time, and subtracts them from `most`.
    mutating func print(_ findings: [EventFollower.Finding], most: inout Int) throws {
        for finding in findings where finding.batch.lost > 0 { try printLoss(finding) }
        var events = findings.flatMap { finding in finding.batch.events.map { (finding.archive, $0) } }
        if findings.count > 1 {
            // The sequence number orders events of an archive with equal times.
            events.sort { ($0.1.time, $0.0.name, $0.1.sequence) < ($1.1.time, $1.0.name, $1.1.sequence) }
        }
        for (archive, event) in events.prefix(most) {
            try rows.print([
                .clock(event.time), .text(archive.name), .text(event.kind.word), key(of: event),
                .bytes(UInt64(clamping: event.bytes)), Cell(event.cause.word), process(event.pid, archive),
            ])
        }
        most -= min(most, events.count)
    }

    private func key(of event: ArchiveEvent) -> Cell {
        layout == .table ? .text(event.keyCell()) : Cell(event.shownKey())
    }

    private mutating func process(_ pid: Int32, _ archive: Archive) -> Cell {
        guard layout == .table else { return .count(UInt64(clamping: pid)) }
        let name = names[ExactText(archive.name), default: ProcessNames()].name(of: pid, in: archive)
        return .text(ProcessName.words(pid, name))
    }

    /// Reports a gap both at its place in the output and on standard error.
    private func printLoss(_ finding: EventFollower.Finding) throws {
        let name = finding.archive.name
        let lost = finding.batch.lost
        Console.warn(
            "\(Figures.count(lost, "event", "events")) of \(name) were overwritten before they were read")
        let time = finding.batch.events.first?.time ?? .now()
        switch layout {
        case .jsonLines, .jsonArray:
            try JSONTree.cells([
                ("time", .clock(time)), ("archive", .text(name)), ("event", .text(Self.lost)),
                ("key", .absent), ("size", .absent), ("cause", .absent), ("pid", .absent),
                ("count", .count(lost)),
            ]).writeLine(to: output)
        case .tabs:
            let name = TerminalSafe.column(name)
            try output.write("\(Figures.seconds(time))\t\(name)\t\(Self.lost)\t\t\t\t\t\(lost)\n")
        case .table:
            try output.write(
                "\(Figures.clock(time))  \(Cell.text(name).human)  \(Self.lost): \(Figures.count(lost))\n")
        }
    }
}
