import StoreInspection
import TerminalKit

/// The messages of a log.
enum MessagesScreen: ScreenParts {
    static func path(_ model: Model) -> [String] { [TitleView.storeName(model), model.log?.archive ?? ""] }
    static func archive(_ model: Model) -> String? { model.log?.archive }

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

    static func show(_ archive: ArchiveSample, _ model: inout Model) {
        var log = LogState(archive: archive.name)
        log.update(archive)
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
        case .deleteAll: Browser.planClearing(&model)
        default: break
        }
        return []
    }

    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        guard let available = model.log?.available, !available.isEmpty else { return [] }
        let row = max(0, min(row, available.count - 1))
        model.log?.cursor = available.lowerBound + row
        // Whoever goes to the newest message wants to see the next ones too.
        model.log?.follows = row == available.count - 1
        return []
    }

    /// The message under the cursor in full, as far as it is text.
    static func open(_ model: inout Model) -> [Effect] {
        guard let log = model.log, let line = log.lines[log.cursor] else { return [] }
        var lines = [
            (line.time.map { "\(Figures.date($0)) UTC, " } ?? "")
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
        model.overlay = .message(MessageBox(title: "Message of \(log.archive)", lines: lines))
        return []
    }

    static func loaded(
        _ model: inout Model, archive: String, _ range: Range<Int>,
        messages result: Result<[LogLine], SourceError>
    ) -> [Effect] {
        guard model.log?.archive == archive else { return [] }
        model.log?.isPending = false
        switch result {
        case .success(let lines):
            model.log?.show(lines, from: range.lowerBound, asked: range)
            model.log?.readProblem = nil
        case .failure(let error):
            // What can't be read isn't asked for again until there is something else to ask for.
            model.log?.show([], from: range.lowerBound, asked: range)
            model.log?.readProblem = error.description
        }
        return []
    }

    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        guard var log = model.log else { return [] }
        defer { model.log = log }
        if model.pausedSince == nil, let summary = model.archives.summary(log.archive) { log.update(summary) }
        guard let available = log.available, let store = model.store else { return [] }
        let page = max(1, layout.page(.messages))
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
        return [
            .loadMessages(
                in: ArchiveAddress(log.archive, in: store), range, end: available.upperBound,
                nextEvent: log.nextEvent
            )
        ]
    }
}
