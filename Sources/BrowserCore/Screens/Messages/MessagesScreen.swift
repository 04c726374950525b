import StoreInspection
import TerminalKit

/// The messages of a log.
enum MessagesScreen: ScreenParts {
    static func path(_ model: Model) -> [String] {
        [TitleView.storeName(model), model.log?.archive.name ?? ""]
    }
    static func archive(_ model: Model) -> ArchiveAddress? { model.log?.archive }

    static func copyable(_ model: Model) -> [CopyItem] {
        guard let log = model.log, let line = log.lines[log.cursor] else { return [] }
        let archive = log.archive
        let isCut = line.size > LogLine.limit
        let half = "only its first \(Figures.bytes(UInt64(LogLine.limit))) were read; vellum tail prints all"
        let whole = line.text.flatMap { isCut ? nil : $0 }
        let absence = line.text == nil ? "it isn't text; vellum tail --json prints it" : half
        let row = whole.map { text in
            JSONTree.object([
                ("sequence", .count(line.sequence)), ("time", .cell(Cell(line.time))), ("text", .text(text)),
            ]).text
        }
        return [
            CopyItem("v", "the message", whole.map(CopyItem.Content.ready) ?? .absent(absence)),
            CopyItem("j", "the row as JSON", row.map(CopyItem.Content.ready) ?? .absent(absence)),
            CopyItem("c", "the shell command", CopyItem.command("tail", [archive.name], archive.store)),
            CopyItem("s", "the Swift", CopyItem.archiveSource(archive) + ".messages(most: 100)"),
            CopyItem.path(archive),
        ]
    }

    // MARK: How it looks

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        MessagesView.draw(model, layout, into: &frame)
    }

    static func cursor(_ model: Model) -> Int { model.log?.row ?? 0 }

    static func firstRow(_ model: Model) -> Int {
        max(0, (model.log?.top ?? 0) - (model.log?.available?.lowerBound ?? 0))
    }

    static func table(_ model: Model) -> Table? { MessagesView.table(model) }

    static func problem(_ model: Model) -> String? { model.archives.problem ?? model.log?.problem }

    static func place(_ model: Model) -> StatusView.Content? {
        guard let log = model.log, log.count > 0 else { return nil }
        return .line([], right: "\(Figures.count(log.row + 1)) of \(Figures.count(log.count))")
    }

    // MARK: What it does

    static func show(_ sample: ArchiveSample, of archive: ArchiveAddress, _ model: inout Model) {
        var log = LogState(archive: archive)
        log.update(sample)
        model.log = log
        model.screen = .messages
    }

    static func back(_ model: inout Model) -> [Effect] {
        model.log = nil
        model.screen = .archives
        return []
    }

    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] {
        switch id {
        case .follow:
            model.log?.follows.toggle()
            let follows = model.log?.follows == true
            model.say(follows ? "Following the newest message." : "The screen stays where it is.", seconds: 3)
        case .deleteAll: planClearing(&model)
        default: break
        }
        return []
    }

    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        guard let available = model.log?.available, !available.isEmpty else { return [] }
        let row = max(0, min(row, available.count - 1))
        model.log?.cursor = available.lowerBound + row
        // A person who goes to the newest message wants to see the next ones, too.
        model.log?.follows = row == available.count - 1
        return []
    }

    /// The message under the cursor in full, as far as it is text.
    static func open(_ model: inout Model) -> [Effect] {
        guard let log = model.log, let line = log.lines[log.cursor] else { return [] }
        var lines = [
            (line.time.map { "\(Figures.date($0)), " } ?? "")
                + "\(Figures.bytes(UInt64(line.size))), number \(line.sequence)",
            "",
        ]
        if let text = line.text {
            lines += text.split(whereSeparator: \.isNewline).map { TerminalText.sanitized(String($0)) }
            if line.size > LogLine.limit {
                lines.append("The first \(Figures.bytes(UInt64(LogLine.limit))) of it.")
            }
        } else {
            lines.append("It isn't text.")
        }
        model.overlay = .message(MessageBox(title: "Message of \(log.archive.name)", lines: lines))
        return []
    }

    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        guard var log = model.log else { return [] }
        defer { model.log = log }
        if model.pausedSince == nil, let sample = model.sample(log.archive) { log.update(sample) }
        guard let available = log.available else { return [] }
        let page = max(1, layout.page)
        log.cursor = log.follows ? max(available.lowerBound, available.upperBound - 1) : log.cursor
        log.cursor = max(available.lowerBound, min(log.cursor, available.upperBound - 1))
        let top = Table.firstRow(
            showing: log.row, of: available.count, in: page, from: log.top - available.lowerBound)
        log.top = available.lowerBound + top
        let visible = log.top..<min(available.upperBound, log.top + page)
        guard !visible.isEmpty, visible.clamped(to: log.loaded) != visible, !log.isPending
        else { return [] }
        let range =
            max(
                available.lowerBound, visible.lowerBound - page)..<min(
                available.upperBound, visible.upperBound + page)
        log.isPending = true
        return [load(range, of: log, end: available.upperBound)]
    }

    /// Reads the messages of a range, of a log that ends at a number.
    private static func load(_ range: Range<Int>, of log: LogState, end: Int) -> Effect {
        let (archive, nextEvent) = (log.archive, log.nextEvent)
        return .ask("load messages \(range) of \(archive.name)") { (context) throws(SourceError) in
            try context.source.messages(
                count: range.count, behind: end - 1 - range.lowerBound, nextEvent: nextEvent, in: archive)
        } then: { model, result in
            guard model.log?.archive == archive else { return [] }
            model.log?.isPending = false
            // What can't be read isn't asked for again until there is something else to ask for.
            model.log?.show((try? result.get()) ?? [], from: range.lowerBound, asked: range)
            model.log?.readProblem = if case .failure(let error) = result { error.description } else { nil }
            return []
        }
    }

    // MARK: Deleting all messages

    private static func planClearing(_ model: inout Model) {
        guard let archive = model.log?.archive, let sample = model.sample(archive) else { return }
        guard sample.entries > 0 else {
            model.say("There is no message to delete.")
            return
        }
        model.overlay = .plan(Plan(clearing: sample, at: archive))
    }

    static func clearLog(_ archive: ArchiveAddress, _ ticket: Int) -> Effect {
        .ask("clear \(archive.name)", ticket: ticket) { (context) throws(SourceError) in
            try context.source.clearLog(in: archive)
        } then: { model, result in
            Browser.end(&model, job: ticket)
            switch result {
            case .failure(let error):
                model.overlay = .message(
                    MessageBox(title: "Nothing was deleted", lines: [error.description]))
                return []
            case .success(let carried):
                let outcome = carried.outcome
                model.cost.note(writes: outcome.entries, longestCall: carried.longestCall)
                let messages = Figures.count(outcome.entries, "message", "messages")
                model.say("Deleted \(messages), \(Figures.bytes(outcome.bytes)).", role: .good)
                if model.log?.archive == archive { model.log?.forget() }
                return Browser.refresh(&model, isForced: true)
            }
        }
    }
}
