import TerminalKit

struct KeyExplanation: Sendable {
    let archive: String
    let key: String
    let metadata: EntryMetadata?
    let standing: EntryStanding?
    let history: KeyHistory
    /// Nil if the key has an entry, or the events show its removal.
    let log: LogHistory?
    /// Names of the events' processes, if they are still attached.
    private let names: [Int32: String]

    /// Lists all entries if the key has one; otherwise may read the log, with a progress bar.
    init(_ archive: Archive, key: String) throws(StorageError) {
        self.archive = archive.name
        self.key = key
        var metadata = try archive.metadata(key)
        if let found = metadata { metadata?.rank = try GetCommand.rank(of: found, in: archive) }
        self.metadata = metadata
        standing = try archive.standing(of: key)
        history = try archive.history(of: key)
        var found: LogHistory?
        if metadata == nil, standing == nil, !history.endsWithRemoval {
            var progress = ProgressBar()
            found = try archive.logHistory(of: key) {
                progress.update(share: $0, "reading the log")
                return true
            }
            progress.finish()
        }
        log = found
        names = Dictionary(try archive.processes().map { ($0.pid, $0.name) }) { $1 }
    }

    /// The expiry time of an expired entry that hasn't been removed yet.
    private var expired: Timestamp? {
        guard metadata == nil, let standing, standing.isExpired else { return nil }
        return standing.expires
    }

    var isKnown: Bool {
        metadata != nil || standing != nil || !history.events.isEmpty || log?.changes.isEmpty == false
    }

    private func name(of pid: Int32) -> String { ProcessName.words(pid, names[pid]) }

    func human(now: Timestamp) -> String {
        guard isKnown else { return "" }
        var text = ""
        if let metadata {
            text +=
                "\(TerminalSafe.quoted(key)) is in \(archive): \(Figures.bytes(UInt64(metadata.valueBytes)))"
            text += metadata.tier == .memory ? ", in memory only\n" : "\n"
            let holders = (standing?.holders ?? []).map { name(of: $0.pid) }
            let held = holders.isEmpty ? "no process's memory" : holders.joined(separator: ", ")
            for line in FactLines.lines(metadata.facts(now: now) + [("held by", held)]) {
                text += "  \(line)\n"
            }
        } else if let deadline = expired {
            text +=
                "\(TerminalSafe.quoted(key)) is not in \(archive): it expired \(Figures.ago(deadline, now: now)), "
            text += "and has not been removed yet\n"
        } else {
            text += "\(TerminalSafe.quoted(key)) is not in \(archive)\n"
        }
        if !history.events.isEmpty { text += "\n" }
        for line in history.lines(by: name) { text += "  \(line)\n" }
        text += history.reach(in: archive, now: now) + "\n"
        for line in log?.lines ?? [] { text += line + "\n" }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { TerminalText.sanitized(String($0)) }.joined(separator: "\n")
    }

    /// For a pipe: properties, then the events in columns, and after an empty line the changes from the log.
    var plain: String {
        guard isKnown else { return "" }
        var text = "present\t\(metadata != nil)\n"
        if let expired { text += "expired\t\(Cell.time(expired).plain)\n" }
        if let metadata {
            for (name, cell) in MetadataColumns.members(metadata) where name != "key" {
                text += "\(name)\t\(cell.plain)\n"
            }
        }
        for holder in standing?.holders ?? [] {
            text += "heldBy\t\(holder.pid)\t\(TerminalSafe.column(holder.name))\n"
        }
        func lines(_ rows: [[(name: String, value: StoreInspection.Cell)]]) -> String {
            rows.map { $0.map(\.value.plain).joined(separator: "\t") + "\n" }.joined()
        }
        text += "\n" + lines(history.events.map(cells))
        guard let log, !log.changes.isEmpty else { return text }
        return text + "\n" + lines(log.changes.map(cells))
    }

    private func cells(of change: LogHistory.Change) -> [(name: String, value: StoreInspection.Cell)] {
        [("notBefore", Cell(change.notBefore))] + cells(of: change.event).prefix(4)
    }

    private func cells(of event: ArchiveEvent) -> [(name: String, value: StoreInspection.Cell)] {
        [
            ("time", .time(event.time)), ("event", .text(event.kind.word)),
            ("size", .bytes(UInt64(clamping: event.bytes))), ("cause", Cell(event.cause.word)),
            ("pid", .count(UInt64(clamping: event.pid))), ("process", Cell(names[event.pid])),
        ]
    }

    var json: JSONTree {
        .object([
            ("archive", .text(archive)), ("key", .text(key)), ("present", .flag(metadata != nil)),
            ("expired", .cell(Cell(expired))),
            ("meta", metadata.map { .cells(MetadataColumns.members($0)) } ?? .cell(.absent)),
            (
                "heldBy",
                .array(
                    (standing?.holders ?? []).map {
                        .object([("pid", .count($0.pid)), ("name", .text($0.name))])
                    })
            ), ("events", .array(history.events.map { .cells(cells(of: $0)) })),
            ("reachesBackTo", .cell(Cell(history.reachesBackTo))), ("isCutOff", .flag(history.isCutOff)),
            (
                "log",
                log.map { log in
                    .object([
                        ("changes", .array(log.changes.map { .cells(cells(of: $0)) })),
                        ("searchedBytes", .count(log.searchedBytes)), ("totalBytes", .count(log.totalBytes)),
                        ("isPartial", .flag(log.isPartial)),
                    ])
                } ?? .cell(.absent)
            ),
        ])
    }
}
