struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Verifies the data and the indexes of a store; repairs damage with --repair.",
        discussion: """
            Without --repair, changes nothing. Exit code 1 if anything is wrong; 3 if an archive could not be read for a \
            reason other than damage, such as a limit of this process or a permission. Such an archive may be damaged or \
            not; the others are still checked. At most 20 damaged places of an archive are named, with --json 100. --json prints \
            one object: clean, entries, damaged, salvaged, problems of the store itself, and archives, an array of \
            objects with archive, these four members, read, valueBytes, problems and remarks.

            --repair repairs every damaged archive. It skips archives that are clean, that can't be read, or that a process \
            has open for writing. Damaged bytes are kept in files of the archive's folder that end in .damaged. The member \
            clean and the exit code describe the state after the repair. An archive without its descriptor becomes a log, a \
            cache or a collection, depending on its entries, without loss. A damaged or missing marker file vellum-store is \
            recreated if the folder has an archive. An archive's folder without any file is removed.

            If newer records are damaged, a repair may make older values current: in a collection the value before a damaged \
            one, or a deleted entry whose deletion is damaged; in a cache only those that the index lists already, because it \
            was rebuilt after the damage. Entries that the old index lists as deleted stay deleted. The check reports such \
            archives, and --repair then asks on a terminal; elsewhere --yes is required. Intact entries that only the old index \
            has are stored again.
            """)

    @OptionGroup var store: StoreArguments

    @Flag(help: "Repair damaged archives.")
    var repair = false

    @Flag(help: "With --repair: only report damage.")
    var dryRun = false

    @Flag(help: "Don't ask.")
    var yes = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let marker = repair && !dryRun ? try store.repairMarker() : nil
        let looked = try store.openReadOnly()
        var (findings, isUnreadable) = try examine(looked)
        if repair, !dryRun {
            try confirm(findings)
            var progress = ProgressBar()
            defer { progress.finish() }
            let store = try store.openForWriting(creating: false)
            defer { store.close() }
            for index in findings.indices where !findings[index].clean && findings[index].isRead {
                do throws(StorageError) {
                    if findings[index].isStray { continue }
                    if findings[index].isEmptyFolder {
                        try findings[index].removeFolder(in: store)
                        continue
                    }
                    try findings[index].repair(in: store, &progress)
                } catch {
                    findings[index].problems.append(error.description)
                    isUnreadable = true
                }
            }
        }
        if let remark = try looked.removalRemark() {
            Console.say(remark + "; the next process that opens the store for writing frees it")
        }
        let output = OutputWriter()
        if json {
            try printJSON(findings, marker, to: output)
        } else {
            try printText(findings, marker, to: output)
        }
        try output.flush()
        if isUnreadable { throw CommandFailure(nil, status: .storeFailure) }
        if !findings.allSatisfy(\.clean) { throw CommandFailure(nil, status: .nothing) }
    }

    /// Asks before a repair that makes older values current.
    private func confirm(_ findings: [Finding]) throws {
        let revivals = findings.compactMap { finding in
            finding.staleValueWarning.map { "\(TerminalSafe.column(finding.name)): \($0)" }
        }
        guard !revivals.isEmpty else { return }
        revivals.forEach(Console.warn)
        try Confirmation.require(unless: yes)
        try Confirmation.ask("Repair?", unless: yes, refusal: "nothing was repaired")
    }

    private func examine(_ store: Store) throws -> (findings: [Finding], isUnreadable: Bool) {
        var findings: [Finding] = []
        var isUnreadable = false
        var progress = ProgressBar()
        defer { progress.finish() }
        try store.visitArchives { archive in
            let report = try archive.check(most: nil) {
                progress.update(share: $0, "checking \(TerminalSafe.column(archive.name))")
            }
            var finding = Finding(
                name: archive.name, clean: report.clean, entries: report.entries,
                valueBytes: report.valueBytes, damaged: report.damaged, salvaged: report.salvaged,
                problems: report.problems, remarks: report.remarks)
            try finding.predictRepair(of: archive, report)
            findings.append(finding)
        } unreadable: { name, error in
            let finding = Finding.failed(name, error)
            findings.append(finding)
            if !finding.isRead { isUnreadable = true }
        }
        for name in try store.emptyArchiveNames() {
            let problem = store.emptyArchiveProblem(named: name)
            findings.append(Finding(name: name, damaged: 1, problems: [problem], isEmptyFolder: true))
        }
        for name in try store.strayFolderNames() {
            let problem = store.strayFolderProblem(name)
            findings.append(Finding(name: name, damaged: 1, problems: [problem], isStray: true))
        }
        return (findings, isUnreadable)
    }

    private func printText(_ findings: [Finding], _ marker: String?, to output: OutputWriter) throws {
        if let marker { try TerminalSafe.write(Array((marker + "\n").utf8), to: output) }
        for finding in findings {
            var line = "\(TerminalSafe.column(finding.name)): \(finding.verdict)"
            if finding.isRead { line += ", " + Figures.amount(finding.entries, bytes: finding.valueBytes) }
            if finding.damaged > 0 { line += ", \(Figures.count(finding.damaged)) damaged" }
            if finding.salvaged > 0 { line += ", \(Figures.count(finding.salvaged)) salvaged" }
            line += "\n"
            let named = finding.problems.prefix(Console.mostDamaged)
            let others = max(finding.damaged, finding.problems.count) - named.count
            let more = others > 0 ? ["and \(Figures.count(others)) more"] : []
            for text in named + more + finding.remarks {
                line += "  \(TerminalSafe.column(text))\n"
            }
            try TerminalSafe.write(Array(line.utf8), to: output)
        }
    }

    private func printJSON(_ findings: [Finding], _ marker: String?, to output: OutputWriter) throws {
        let total = Self.members(
            clean: findings.allSatisfy(\.clean), entries: findings.reduce(0) { $0 + $1.entries },
            damaged: findings.reduce(marker == nil ? 0 : 1) { $0 + $1.damaged },
            salvaged: findings.reduce(0) { $0 + $1.salvaged })
        let archives = findings.map { finding in
            JSONTree.object(
                [("archive", .text(finding.name))]
                    + Self.members(
                        clean: finding.clean, entries: finding.entries, damaged: finding.damaged,
                        salvaged: finding.salvaged)
                    + [
                        ("read", .flag(finding.isRead)), ("valueBytes", .count(finding.valueBytes)),
                        ("problems", .array(finding.problems.map { .text($0) })),
                        ("remarks", .array(finding.remarks.map { .text($0) })),
                    ])
        }
        let problems = [marker].compactMap { $0 }.map { JSONTree.text($0) }
        try JSONTree.object(total + [("problems", .array(problems)), ("archives", .array(archives))])
            .writeLine(to: output)
    }

    private static func members(
        clean: Bool, entries: Int, damaged: Int, salvaged: Int
    ) -> [(name: String, value: JSONTree)] {
        [
            ("clean", .flag(clean)), ("entries", .count(entries)), ("damaged", .count(damaged)),
            ("salvaged", .count(salvaged)),
        ]
    }

    private struct Finding: Sendable {
        let name: String
        var clean = false
        var entries = 0
        var valueBytes: UInt64 = 0
        var damaged = 0
        var salvaged = 0
        var problems: [String] = []
        var remarks: [String] = []
        var isRepaired = false
        /// A warning about values that are older than damaged ones and are current after a repair.
        var staleValueWarning: String?
        /// False: nothing is known about damage.
        var isRead = true
        var isEmptyFolder = false
        /// A foreign folder, which --repair can't handle.
        var isStray = false

        var verdict: String {
            if !isRead { return "could not be read" }
            return !clean ? "NOT CLEAN" : isRepaired ? "repaired" : "clean"
        }

        /// For an archive that could not be opened or read; damage counts as one place.
        static func failed(_ name: String, _ error: StorageError) -> Finding {
            guard case .corrupted(let path, let offset, let reason) = error else {
                return Finding(name: name, problems: [error.description], isRead: false)
            }
            // The error's own text advises to run a check.
            let place = offset > 0 ? "damaged at byte \(offset)" : "damaged"
            let problem = "\(path) is \(place): \(reason); vellum check --repair repairs the archive"
            return Finding(name: name, damaged: 1, problems: [problem])
        }

        /// Adds remarks on how a repair treats values older than damaged ones.
        mutating func predictRepair(of archive: Archive, _ report: CheckReport) throws(StorageError) {
            guard !clean, try archive.configuration().kind != .log else { return }
            func values(_ count: Int) -> String { Figures.count(count, "older value", "older values") }
            if let (removed, current, restored) = try archive.olderValues(report) {
                if restored > 0 {
                    let entries = Figures.count(restored, "entry", "entries")
                    remarks.append("a repair stores \(entries) again that only the index has")
                }
                if removed > 0 {
                    remarks.append("a repair removes \(values(removed)), absent or deleted in the index")
                }
                if current > 0 {
                    staleValueWarning =
                        "a repair makes \(values(current)) current, because newer records of the keys are damaged"
                }
            } else {
                staleValueWarning =
                    "no index predates the damage: older values may be current, and a repair keeps them"
            }
            if let staleValueWarning { remarks.append(staleValueWarning) }
        }

        mutating func removeFolder(in store: Store) throws(StorageError) {
            try store.removeEmptyArchive(named: name)
            clean = true
            isRepaired = true
            problems = ["\(store.path)/\(ArchiveName.folder(for: name)) was empty and is removed"]
        }

        mutating func repair(in store: Store, _ progress: inout ProgressBar) throws(StorageError) {
            let report = try store.repair(archiveNamed: name) {
                progress.update(share: $0, "repairing \(TerminalSafe.column(name))")
            }
            entries = report.entries
            valueBytes = report.valueBytes
            salvaged = report.salvaged
            // A rebuilt index no longer shows the faults of the old one.
            if report.damaged > 0 { (damaged, problems) = (report.damaged, report.problems) }
            let looking = try Store.open(at: store.path, mode: .readOnly, createIfMissing: false)
            defer { looking.close() }
            let remaining = try looking.archive(named: name).check()
            clean = remaining.clean
            isRepaired = remaining.clean
            problems += remaining.problems
            remarks = remaining.remarks
        }
    }
}
