import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

protocol ScreenParts {
    // MARK: Subject

    /// The path in the top bar, from store to key.
    static func path(_ model: Model) -> [String]
    static func archive(_ model: Model) -> ArchiveAddress?
    /// Whether the screen shows a single archive.
    static var isOfOneArchive: Bool { get }
    static func key(_ model: Model) -> String?
    /// The entries that delete and expire apply to; nil if the screen has none.
    static func targets(_ model: Model) -> ChosenEntries?
    /// The copyable parts of the selected row.
    static func copyable(_ model: Model) -> [CopyItem]
    /// Lists the parts of marked entries or of the selected row that can be copied.
    static func showCopyMenu(_ model: inout Model) -> [Effect]
    static func command(_ model: Model) -> CommandLine.Words
    /// The rows to write to a file: marked rows or, without marks, all. Nil: the selected value is written.
    static func export(_ model: Model) -> RowExport?
    /// The input of the pager and of pipes; nil: the selected entry's value.
    static func input(_ model: Model) -> ProgramInput?

    // MARK: View

    /// Divides the area between the bars. `isTall`: there is space for more than the list.
    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts
    static func pageRows(_ list: Rect) -> Int
    /// The selected row and the first visible one, from 0.
    static func cursor(_ model: Model) -> Int
    static func firstRow(_ model: Model) -> Int
    /// When the rows were listed, if their order is frozen during typing and moving.
    static func listed(_ model: Model) -> Timestamp?
    /// The age of a screen that isn't live.
    static func age(_ model: Model) -> ScreenAge?
    static func follows(_ model: Model) -> Bool
    /// The table, for drawing and for clicks; nil if the screen has none.
    static func table(_ model: Model) -> Table?
    static func row(at point: Point, _ model: Model, _ layout: ScreenLayout) -> Int?
    /// The current error, unless the list area shows it in full.
    static func problem(_ model: Model) -> String?
    /// The selected item in full, and its position.
    static func place(_ model: Model) -> StatusView.Content?
    /// Whether an action has an effect now. The footer omits others.
    static func hasEffect(_ id: ActionID, _ model: Model) -> Bool

    // MARK: Actions

    /// Requests the screen's data again. A forced refresh also unfreezes it.
    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect]
    static func figuresLoaded(_ model: inout Model) -> [Effect]
    static func targetsRemoved(_ model: inout Model) -> [Effect]
    /// Keeps cursor and visible rows within bounds, and requests missing rows.
    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect]
    /// The action of a key if it depends on the part of the screen.
    static func action(for key: Key, _ id: ActionID, _ model: Model) -> ActionID
    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect]
    static func open(_ model: inout Model) -> [Effect]
    static func back(_ model: inout Model) -> [Effect]
    /// Clears the innermost filter, search or mark, or goes back.
    static func clear(_ model: inout Model) -> [Effect]
    static func move(_ model: inout Model, to row: Int) -> [Effect]
    /// Moves down or, with a negative number, up.
    static func move(_ model: inout Model, by rows: Int) -> [Effect]
    static func click(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect]
    /// Sorts by a clicked column of the table; nil if the column doesn't sort.
    static func sort(_ model: inout Model, byHeader column: Int) -> [Effect]?
    static func drag(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect]
    static var doubleClick: ActionID { get }
    static func columnChoice(_ model: Model) -> ColumnChoice?
    static func show(_ columns: ColumnChoice, _ model: inout Model)
    static func columnsChosen(_ model: inout Model) -> [Effect]
    static func scroll(columns: Int, _ model: inout Model)

    // MARK: Prompt

    static func promptNote(_ model: Model) -> String
    static func promptChanged(_ model: inout Model, _ text: String) -> [Effect]
    static func promptTab(_ model: inout Model, backwards: Bool) -> [Effect]
    /// Enter keeps the text, Esc doesn't. The last request may still be running.
    static func promptEnded(_ model: inout Model, _ prompt: Prompt, isKept: Bool) -> [Effect]

    // MARK: Own line

    /// The footer while a line of the screen has the keyboard; nil if none has.
    static func typingKeys(_ model: Model) -> [(key: String, title: String)]?
    static func press(_ model: inout Model, _ key: Key) -> [Effect]
    static func paste(_ model: inout Model, _ text: String) -> [Effect]
}

extension ScreenParts {
    static func command(_ model: Model) -> CommandLine.Words { .init("ls") }
    static func export(_ model: Model) -> RowExport? { nil }
    static func input(_ model: Model) -> ProgramInput? { nil }
    static var isOfOneArchive: Bool { true }
    static func key(_ model: Model) -> String? { nil }
    static func targets(_ model: Model) -> ChosenEntries? { nil }
    static func copyable(_ model: Model) -> [CopyItem] {
        Browser.chosenEntry(model).map(CopyItem.items) ?? []
    }
    static func showCopyMenu(_ model: inout Model) -> [Effect] {
        let marked = model.marked.map { CopyItem.items(of: $0.marks, in: $0.archive, model) }
        Browser.showCopyMenu(&model, marked ?? copyable(model))
        return []
    }
    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts {
        .init(rest, infoRows: isTall ? 1 : 0)
    }
    static func pageRows(_ list: Rect) -> Int { max(0, list.rows - (list.rows > 1 ? 1 : 0)) }
    static func listed(_ model: Model) -> Timestamp? { nil }
    static func follows(_ model: Model) -> Bool { false }
    static func age(_ model: Model) -> ScreenAge? { nil }
    static func row(at point: Point, _ model: Model, _ layout: ScreenLayout) -> Int? {
        table(model)?.layout(in: layout.list).row(at: point)
    }
    static func problem(_ model: Model) -> String? { model.archives.problem }
    static func hasEffect(_ id: ActionID, _ model: Model) -> Bool { true }
    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] { [] }
    static func figuresLoaded(_ model: inout Model) -> [Effect] { [] }
    static func targetsRemoved(_ model: inout Model) -> [Effect] { [] }
    static func action(for key: Key, _ id: ActionID, _ model: Model) -> ActionID { id }
    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] { [] }
    static func clear(_ model: inout Model) -> [Effect] { back(&model) }
    static func click(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect] {
        clickTable(&model, point, layout)
    }

    static func sort(_ model: inout Model, byHeader column: Int) -> [Effect]? { nil }
    static func move(_ model: inout Model, by rows: Int) -> [Effect] {
        move(&model, to: max(0, cursor(model) + rows))
    }
    /// Sorts by the clicked column, or selects the clicked row.
    static func clickTable(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect] {
        let header = table(model)?.layout(in: layout.list).headerColumn(at: point)
        if let effects = header.flatMap({ sort(&model, byHeader: $0) }) { return effects }
        return row(at: point, model, layout).map { move(&model, to: $0) } ?? []
    }
    static func drag(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect] { [] }
    static var doubleClick: ActionID { .open }
    static func columnChoice(_ model: Model) -> ColumnChoice? { nil }
    static func show(_ columns: ColumnChoice, _ model: inout Model) {}
    static func columnsChosen(_ model: inout Model) -> [Effect] { [] }
    static func scroll(columns: Int, _ model: inout Model) {}
    static func promptNote(_ model: Model) -> String { "" }
    static func promptChanged(_ model: inout Model, _ text: String) -> [Effect] { [] }
    static func promptTab(_ model: inout Model, backwards: Bool) -> [Effect] { [] }
    static func promptEnded(_ model: inout Model, _ prompt: Prompt, isKept: Bool) -> [Effect] {
        isKept ? [] : promptChanged(&model, "")
    }
    static func typingKeys(_ model: Model) -> [(key: String, title: String)]? { nil }
    static func press(_ model: inout Model, _ key: Key) -> [Effect] { [] }
    static func paste(_ model: inout Model, _ text: String) -> [Effect] { [] }
}

extension Screen {
    var parts: any ScreenParts.Type {
        switch self {
        case .stores: StoresScreen.self
        case .archives: ArchivesScreen.self
        case .entries: EntriesScreen.self
        case .groups: GroupsScreen.self
        case .value: ValueScreen.self
        case .query: QueryScreen.self
        case .messages: MessagesScreen.self
        case .monitor: MonitorScreen.self
        case .advise: AdviseScreen.self
        }
    }

    func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        switch self {
        case .stores: StoresView.draw(model, layout, into: &frame)
        case .archives: ArchivesView.draw(model, layout, into: &frame)
        case .entries: EntriesView.draw(model, layout, into: &frame)
        case .groups: GroupsView.draw(model, layout, into: &frame)
        case .value: ValueView.draw(model, layout, into: &frame)
        case .query: QueryView.draw(model, layout, into: &frame)
        case .messages: MessagesView.draw(model, layout, into: &frame)
        case .monitor: MonitorView.draw(model, layout, into: &frame)
        case .advise: AdviseView.draw(model, layout, into: &frame)
        }
    }
}

extension Model {
    var parts: any ScreenParts.Type { screen.parts }

    /// Whether the server counts reading a value as an access.
    var countsReads: Bool { archives.figures?.unreadableReason != nil }

    /// Whether values aren't read, because that counts as accesses and isn't allowed yet.
    var withholdsValues: Bool { countsReads && !archives.allowsUse }

    /// Reads a server's value beside the list again, even if its size and type are unchanged.
    mutating func readValueAgain() { if isOfServer { entries?.preview.sequence = nil } }

    var isTyping: Bool { parts.typingKeys(self) != nil }
}

extension Prompt {
    /// A prompt that filters a list while typing.
    static func filtering(_ text: String, placeholder: String) -> Prompt {
        Prompt(
            label: "filter: ", field: TextField(text, placeholder: placeholder),
            keys: [("enter", "Keep"), ("esc", "Clear"), ("up/down", "Move")])
    }
}

extension Figures {
    /// The number of a row, counted from 0: `3 of 200`.
    static func position(_ row: Int, of total: Int) -> String { "\(count(row + 1)) of \(count(total))" }
}

extension Look {
    /// Cuts a text to a number of columns.
    func cut(_ text: String, to columns: Int, _ part: TextWidth.Cut = .end) -> String {
        TextWidth.truncate(text, to: columns, cutting: part, ellipsis: glyphs.ellipsis)
    }
}

extension Frame {
    /// Shows an error or a loading message instead of a list.
    mutating func draw(problem: String?, loading: String, in rect: Rect, look: Look) {
        let text = ProblemText(
            text: problem ?? loading, role: problem == nil ? .dim : .danger, isCentered: true)
        draw(text, in: rect, look: look)
    }
}

extension Browser {
    /// Reads a typed property, or shows why it isn't one.
    static func property(_ text: String, _ model: inout Model) -> QueryProperty? {
        do throws(QuerySyntaxError) { return try QueryProperty(text) } catch {
            model.say("\(text) is not a property: \(error.message)", role: .warning, seconds: 10)
            return nil
        }
    }

    /// Runs an action that reads the values of many keys of the archive on the screen. If a server counts that as accesses, asks
    /// first, once for each store.
    /// - Parameters:
    ///   - subject: the action, as `The query`.
    ///   - isNeeded: whether it reads values at all.
    static func readingValues(
        _ model: inout Model, for subject: String, isNeeded: Bool = true,
        _ action: @escaping @Sendable (inout Model) -> [Effect]
    ) -> [Effect] {
        guard isNeeded, model.countsReads, !model.archives.allowsReadingAll,
            let archive = model.parts.archive(model)
        else { return action(&model) }
        let keys = model.sample(archive).map { Figures.count($0.entries, "key", "keys") } ?? "all keys"
        model.overlay = Choice(
            title: "Read all values?",
            lines: ["\(subject) reads the values of at most \(keys), which counts as an access to each."],
            button: "Run"
        ) { model in
            guard model.parts.archive(model) == archive else { return [] }
            model.archives.allowsReadingAll = true
            return action(&model)
        } left: { model in
            model.say("No values were read. \(subject) needs them.", seconds: 10)
        }
        return []
    }

    /// Runs an action that reads a value. If a server counts that as an access, asks first, once for each store.
    static func readingValue(
        _ model: inout Model, _ action: @escaping @Sendable (inout Model) -> [Effect]
    ) -> [Effect] {
        guard model.withholdsValues else { return action(&model) }
        model.overlay = Choice(
            title: "Read values?",
            lines: ["Each read counts as an access to its key. The browser asks once for each store."],
            button: "Read", selected: 1
        ) { model in
            model.archives.allowsUse = true
            return action(&model)
        }
        return []
    }

    /// Why a filtered list is empty, and the key that clears the filter.
    static func noMatch(
        _ noun: String, _ filter: String, _ model: Model, _ unread: Arrangement.Unread = .init()
    ) -> String {
        let untested = Figures.count(unread.untested, "entry was", "entries were")
        let slow = unread.untested > 0 ? "; \(untested) not tested, because the expression is too slow" : ""
        let problem = FilterPattern(filter)?.problem
        let invalid = problem.map { ", which isn't a regular expression (\($0))" } ?? ""
        return "No \(noun) contains \"\(filter)\"\(invalid)\(unreadText(unread.filtered))\(slow); "
            + "\(keyName(model, .clear)) clears the filter."
    }

    static func untestedText(_ count: Int) -> String { "\(Figures.count(count)) not tested (too slow)" }

    static func unreadText(_ count: Int) -> String {
        count == 0 ? "" : ", but \(Figures.count(count, "entry", "entries")) could not be read"
    }
}

struct ChosenEntries: Sendable {
    var archive: ArchiveAddress
    var targets: [Target]
    /// Whether idle entries of the whole archive can be chosen instead.
    var canBeOthers = false
    /// Why the choice isn't complete yet.
    var incompleteReason: String?
    /// Why none is chosen although there are rows.
    var absence = ""
    /// Targets without a visible row.
    var hidden: Set<ExactText> = []
    /// Name of the group whose entries these are.
    var group: String?
    /// A note about entries that are left out.
    var omission: String?
    /// Marked keys that no longer exist.
    private(set) var removed: [String] = []
    /// Collects the targets off the drawing thread; returns nil if stopped.
    var complete: (@Sendable (ChosenEntries, QuestionContext) throws(SourceError) -> ChosenEntries?)?
    /// Whether ``complete`` may take long, so that it runs as work that can be stopped.
    var isSlow = false

    /// The number of targets that the filter hides, in words; nil: none.
    var hiding: String? {
        let count = hidden.isEmpty ? 0 : targets.count { hidden.contains(ExactText($0.key)) }
        guard count > 0 else { return nil }
        let all = count == 1 ? "It is" : "All are"
        return "\(count == targets.count ? all : Figures.count(count, "is", "are")) hidden by the filter."
    }
    /// Why there are no targets, with a space before it.
    var reason: String { omission.map { " \($0)" } ?? absence }

    func taking(_ found: CollectedTargets) -> ChosenEntries {
        var chosen = self
        (chosen.targets, chosen.omission) = (found.targets, found.omission)
        return chosen
    }

    /// Leaves out marked entries that no longer exist.
    mutating func leaveOut(_ keys: Set<ExactText>) {
        removed = targets.map(\.key).filter { keys.contains(ExactText($0)) }
        guard !removed.isEmpty else { return }
        targets.removeAll { keys.contains(ExactText($0.key)) }
        let names = removed.prefix(3).map {
            TextWidth.truncate($0, to: 24, cutting: .middle, ellipsis: "...")
        }
        omission =
            Figures.count(removed.count, "marked entry was", "marked entries were") + " removed since: "
            + names.joined(separator: ", ") + (removed.count > names.count ? " ..." : ".")
    }
}

extension Array where Element: Equatable {
    /// The element after another one, wrapping around; the first if that one is absent.
    func next(after element: Element) -> Element { self[((firstIndex(of: element) ?? -1) + 1) % count] }
}

struct ScreenAge: Sendable, Hashable {
    enum Verb: String, Sendable { case updated, read }

    let verb: Verb
    let moment: Timestamp
    /// Never negative.
    let seconds: Double

    init(_ verb: Verb, since moment: Timestamp, at now: Timestamp) {
        (self.verb, self.moment) = (verb, moment)
        seconds = max(0, now.seconds(since: moment))
    }
}

struct ProblemText: Widget {
    let text: String
    var role = Role.danger
    var isCentered = false

    func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let columns = isCentered ? min(rect.columns - 2, 76) : rect.columns
        let lines = TextWrap.lines(text, columns: max(1, columns))
        let widest = lines.map { TextWidth.width(of: $0) }.max() ?? 0
        let area = isCentered ? rect.centered(Size(columns: widest, rows: lines.count)) : rect
        for (row, line) in lines.prefix(area.rows).enumerated() {
            frame.write(line, at: area.line(row).origin, style: look[role], within: area)
        }
    }
}
