import StoreInspection
import TerminalKit

enum MessagesScreen: ScreenParts {
    static func path(_ model: Model) -> [String] {
        [TitleView.storeName(model), model.log?.archive.name ?? ""]
    }
    static func archive(_ model: Model) -> ArchiveAddress? { model.log?.archive }
    static func command(_ model: Model) -> CommandLine.Words {
        guard let log = model.log else { return .init("ls") }
        let count = log.available?.count ?? 0
        // By default the command prints ten messages.
        return .init(
            "tail", [log.archive.name], options: count > 10 ? ["--lines", String(count)] : [],
            remark: log.filter.isActive ? "Prints all messages; the filter has no command." : nil)
    }

    /// Lists the parts of the selected message, which is read first.
    static func showCopyMenu(_ model: inout Model) -> [Effect] {
        guard let archive = model.log?.archive, model.log?.count ?? 0 > 0 else {
            Browser.showCopyMenu(&model, [])
            return []
        }
        return withMessage(&model) { Browser.showCopyMenu(&$1, copyable($0, of: archive, $1)) }
    }

    static func copyable(_ line: LogLine, of archive: ArchiveAddress, _ model: Model) -> [CopyItem] {
        let isCut = line.size > LogLine.limit
        let half = "only the first \(Figures.bytes(UInt64(LogLine.limit))) were read; vellum tail prints all"
        let whole = line.text.flatMap { isCut ? nil : $0 }
        let absence = line.text == nil ? "not text; vellum tail --json prints it" : half
        let row = whole.map { text in
            JSONTree.object([
                ("sequence", .count(line.sequence)), ("time", .cell(Cell(line.time))), ("text", .text(text)),
            ]).text
        }
        return [
            CopyItem("v", "the message", whole.map(CopyItem.Content.ready) ?? .absent(absence)),
            CopyItem("j", "the row as JSON", row.map(CopyItem.Content.ready) ?? .absent(absence)),
            CopyItem("c", "the shell command", CommandLine.words(for: model)),
            CopyItem("s", "the Swift code", CopyItem.messageSource(archive, isRingFile: model.isOfRingFile)),
            CopyItem.path(archive, isRingFile: model.isOfRingFile),
        ]
    }

    static func hasEffect(_ id: ActionID, _ model: Model) -> Bool {
        guard let log = model.log else { return true }
        switch id {
        case .open, .copy, .pager, .pipe, .export, .wrap: return log.count > 0
        case .filter, .search: return log.available?.isEmpty == false || log.filter.isActive
        default: return true
        }
    }

    // MARK: View

    static func cursor(_ model: Model) -> Int { model.log?.row ?? 0 }

    static func firstRow(_ model: Model) -> Int { model.log.map { $0.row(of: $0.top) } ?? 0 }

    static func table(_ model: Model) -> Table? { MessagesView.table(model) }

    static func follows(_ model: Model) -> Bool { model.log?.follows == true }

    static func problem(_ model: Model) -> String? { model.archives.problem ?? model.log?.problem }

    static func place(_ model: Model) -> StatusView.Content? {
        guard let log = model.log, log.count > 0 else { return nil }
        var left: [Span] = []
        if !log.find.text.isEmpty {
            left = [Span("find \"\(log.find.text)\": \(note(log, .find))", model.look[.accent])]
        }
        return .line(left, right: Figures.position(log.row, of: log.count))
    }

    // MARK: Actions

    static func show(_ sample: ArchiveSample, of archive: ArchiveAddress, _ model: inout Model) {
        var log = LogState(archive: archive)
        log.update(sample)
        model.log = log
        model.screen = .messages
    }

    static func back(_ model: inout Model) -> [Effect] {
        let effects = LogState.Purpose.allCases.flatMap { stopSearching(&model, $0) }
        model.log = nil
        model.screen = .archives
        return effects
    }

    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] {
        switch id {
        case .follow:
            model.log?.follows.toggle()
            let follows = model.log?.follows == true
            model.say(follows ? "Following the newest message." : "No longer following.", seconds: 3)
        case .deleteAll: planClearing(&model)
        case .wrap:
            model.wrapsMessages.toggle()
            model.log?.firstColumn = 0
            model.say(model.wrapsMessages ? "Long messages wrap." : "Long messages are cut.", seconds: 3)
        case .filter: ask(.filter, &model)
        case .search: ask(.find, &model)
        case .findNext: findNext(&model, toNewer: false)
        case .findPrevious: findNext(&model, toNewer: true)
        default: break
        }
        return []
    }

    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        guard let log = model.log, log.count > 0 else { return [] }
        let row = max(0, min(row, log.count - 1))
        model.log?.cursor = log.number(at: row)
        // At the newest message the cursor follows the next ones.
        model.log?.follows = row == log.count - 1
        return []
    }

    /// Pages of wrapped messages have fewer rows than lines.
    static func move(_ model: inout Model, by rows: Int) -> [Effect] {
        let shown = MessagesView.table(model).layout(in: model.layout.list).rows.count
        let most = abs(rows) > 1 && model.wrapsMessages ? max(1, shown - 1) : abs(rows)
        return move(&model, to: max(0, cursor(model) + rows.signum() * min(abs(rows), most)))
    }

    /// Scrolls the messages by halves of their column.
    static func scroll(columns: Int, _ model: inout Model) {
        guard let log = model.log else { return }
        guard !model.wrapsMessages else {
            let key = Browser.keyName(model, .wrap)
            return model.say("Messages wrap, so they don't scroll; \(key) cuts them.", seconds: 4)
        }
        let places = MessagesView.table(model).layout(in: model.layout.list)
        let available = places.columns.last?.columns ?? 1
        let widest = places.rows.reduce(0) { widest, row in
            let text = log.line(log.number(at: row)).map { MessagesView.row(of: $0, model.look) }
            return max(widest, TextWidth.width(of: text ?? ""))
        }
        if columns > 0, widest <= log.firstColumn + available {
            return model.say("No more text to the right.", seconds: 3)
        }
        if columns < 0, log.firstColumn == 0 { return model.say("No more text to the left.", seconds: 3) }
        model.log?.firstColumn = max(0, log.firstColumn + columns * max(1, available / 2))
    }

    static func open(_ model: inout Model) -> [Effect] { withMessage(&model) { show($0, &$1) } }

    /// Calls `body` with the selected message, after it was read if only its row is known.
    static func withMessage(
        _ model: inout Model, _ body: @escaping @Sendable (LogLine, inout Model) -> Void
    ) -> [Effect] {
        guard let log = model.log, log.count > 0 else { return [] }
        let number = log.number(at: log.row)
        if let line = log.lines[number] {
            body(line, &model)
            return []
        }
        let (archive, reader) = (log.archive, log.reader)
        return .ask("read message \(number) of \(archive.name)") { (context) throws(SourceError) in
            try reader.message(number, in: context.source)
        } done: { model, result in
            guard model.log?.archive == archive, model.overlay == nil else { return }
            switch result {
            case .success(let line): body(line, &model)
            case .failure(let error): model.say(error.description.asSentence, role: .warning)
            }
        }
    }

    private static func show(_ line: LogLine, _ model: inout Model) {
        var lines = [
            (line.time.map { "\(Figures.date($0)), " } ?? "")
                + "\(Figures.bytes(UInt64(line.size))), number \(line.sequence)",
            "",
        ]
        if let text = line.text {
            lines += text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                .map { TerminalText.sanitized(String($0)).keepingIndent }
        } else {
            let each = model.size.columns >= 86 ? 16 : model.size.columns >= 54 ? 8 : 4
            lines += HexDump.lines(line.bytes, each: each)
        }
        if line.size > LogLine.limit {
            let key = Browser.keyName(model, .pager)
            lines.append(
                "Only the first \(Figures.bytes(UInt64(LogLine.limit))) are shown; \(key) opens all of it.")
        }
        model.overlay = MessageBox("Message of \(model.log?.archive.name ?? "")", lines)
    }

    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        guard let shown = model.log else { return [] }
        let sample = model.pausedSince == nil ? model.sample(shown.archive) : nil
        if let sample { model.log?.update(sample) }
        let visible = place(&model, layout)
        guard let log = model.log, let available = log.available, !log.filter.isActive, !visible.isEmpty,
            visible.clamped(to: log.loaded) != visible
        else { return search(&model) }
        let isHeld = shown.isHeld(until: log)
        // The rows on screen stay until the oldest messages that exist now were read.
        if isHeld { model.log = shown }
        let searches = search(&model)
        guard !shown.isPending else { return searches }
        model.log?.isPending = true
        let page = max(1, layout.page)
        let range = (visible.lowerBound - page..<visible.upperBound + page).clamped(to: available)
        return searches + [load(range, of: log, isLive: sample != nil, updating: isHeld ? sample : nil)]
    }

    /// Moves the selection and the first row to existing messages. Returns the messages in view.
    private static func place(_ model: inout Model, _ layout: ScreenLayout) -> Range<Int> {
        guard var log = model.log, let available = log.available else { return 0..<0 }
        let page = max(1, layout.page)
        if log.count > 0 {
            log.cursor = log.number(at: log.follows ? log.count - 1 : log.row)
            let (row, top) = (log.row, log.row(of: log.top))
            model.log = log
            let first =
                model.wrapsMessages
                ? MessagesView.table(model).firstRow(showing: row, in: layout.list, from: top)
                : Table.firstRow(showing: row, of: log.count, in: page, from: top)
            log.top = log.number(at: first)
        } else if available.isEmpty {
            (log.cursor, log.top) = (available.lowerBound, available.lowerBound)
        }
        model.log = log
        return log.top..<max(log.top, min(available.upperBound, log.top + page))
    }

    /// Reads messages. A live list begins with the oldest message that can be read.
    /// - Parameter sample: the state from which the range was determined, if the list doesn't have it yet.
    private static func load(
        _ range: Range<Int>, of log: LogState, isLive: Bool, updating sample: ArchiveSample?
    ) -> Effect {
        let (archive, reader) = (log.archive, log.reader)
        return .ask("load messages \(range) of \(archive.name)") { (context) throws(SourceError) in
            var page = try reader.page(range, in: context.source)
            // A fast writer overwrites the oldest messages before they are read.
            var margin = 0
            while isLive, page.lines.isEmpty, page.missing > 0, page.existing + margin < reader.end {
                let (existing, first) = (page.existing, page.existing + margin)
                page = try reader.page(first..<min(first + range.count, reader.end), in: context.source)
                page.existing = max(page.existing, existing)
                margin = max(range.count, 4 * margin)
            }
            if page.lines.isEmpty { page.range = range }
            return page
        } done: { model, result in
            guard model.log?.archive == archive else { return }
            model.log?.isPending = false
            let isLive = isLive && model.pausedSince == nil
            if let sample, isLive { model.log?.update(sample) }
            model.log?.readProblem = if case .failure(let error) = result { error.description } else { nil }
            // The rows of a list that was paused before its update stay, and those of another log aren't shown.
            guard sample == nil || isLive, model.log?.reader.moment.isOfIndex(of: reader.moment) == true
            else { return }
            // A failed request isn't repeated until another range is needed.
            model.log?.show((try? result.get()) ?? LogPage(range: range), isLive: isLive)
        }
    }

    // MARK: Deleting all messages

    private static func planClearing(_ model: inout Model) {
        guard let archive = model.log?.archive, let sample = model.sample(archive) else { return }
        guard sample.entries > 0 else { return model.say("No messages to delete.") }
        model.overlay = Plan(.clear, of: sample, at: archive)
    }
}
