struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks this program, the terminal and the stores, and gives advice.",
        discussion: """
            Changes nothing. Prints a line per finding: ok, note or wrong, the subject and the finding; --json prints one \
            array of objects with state, subject, finding and advice. Doesn't verify values; use vellum check for that. Exit \
            code 1 if anything is wrong.
            """)

    @OptionGroup var store: StoreArguments

    @Flag(help: "Print one JSON array.")
    var json = false

    private static let columns = [
        Column("state", title: "STATE"), Column("subject", title: "SUBJECT"),
        Column("finding", title: "FINDING"), Column("advice"),
    ]

    func run() throws {
        let findings = Examination.ofProgram() + Examination.ofStores(store)
        let output = OutputWriter()
        if output.isTerminal, !json {
            for finding in findings {
                let state = finding.state.rawValue
                let line =
                    state + String(repeating: " ", count: 7 - state.count) + finding.subject + ": "
                    + finding.text
                try TerminalSafe.write(Array((line + "\n").utf8), to: output)
                if let advice = finding.advice {
                    try TerminalSafe.write(Array("       → \(advice)\n".utf8), to: output)
                }
            }
            try output.flush()
        } else {
            var printer = RowPrinter(Self.columns, json: json ? .jsonArray : nil)
            for finding in findings {
                try printer.print([
                    .text(finding.state.rawValue), .text(finding.subject), .text(finding.text),
                    Cell(finding.advice),
                ])
            }
            try printer.end()
        }
        if findings.contains(where: { $0.state == .wrong }) { throw CommandFailure(nil, status: .nothing) }
    }
}
