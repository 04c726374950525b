import StorageEngine
import StoreInspection
import TerminalKit

/// What the browser asks of a screen. Each has a type that answers, in a folder with its state, its view and what its keys do;
/// ``Screen/parts`` leads there. Stateless; safe to call from any thread.
protocol ScreenParts {
    // MARK: What it is about

    /// What the top bar shows, from the widest to the closest.
    static func path(_ model: Model) -> [String]
    /// The archive that it shows, or that the cursor is on.
    static func archive(_ model: Model) -> ArchiveAddress?
    /// Whether all that it shows is of that archive.
    static var isOfOneArchive: Bool { get }
    /// The key that the cursor holds to.
    static func key(_ model: Model) -> String?
    /// What a delete or an expiry is about now; `nil`: the screen has no entries.
    static func targets(_ model: Model) -> ChosenEntries?
    /// What of the row under the cursor can be copied.
    static func copyable(_ model: Model) -> [CopyItem]
    /// The command line that gives what the screen shows.
    static func command(_ model: Model) -> CommandLine.Words
    /// Whether an archive's events are in view.
    static func shows(eventsOf archive: String, _ model: Model) -> Bool

    // MARK: How it looks

    /// Divides what the bars leave. `isTall`: there is room for more than the list.
    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts
    /// Rows of the list that hold data.
    static func pageRows(_ list: Rect) -> Int
    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame)
    /// The row under the cursor, from 0, and the first in view.
    static func cursor(_ model: Model) -> Int
    static func firstRow(_ model: Model) -> Int
    /// When the rows were listed, if their order stays while a person types or moves.
    static func listed(_ model: Model) -> Timestamp?
    /// Of what moment the screen is, where it isn't kept up to date.
    static func age(_ model: Model) -> ScreenAge?
    /// Whether the cursor stays at the top row, so that nothing has to stay.
    static func follows(_ model: Model) -> Bool
    /// The table that is drawn, and that clicks are matched with; `nil`: it has none.
    static func table(_ model: Model) -> Table?
    static func row(at point: Point, _ model: Model, _ layout: ScreenLayout) -> Int?
    /// What went wrong, unless the screen itself says it in full.
    static func problem(_ model: Model) -> String?
    /// What the cursor is on, in full, and where it is.
    static func place(_ model: Model) -> StatusView.Content?
    /// Whether an action does anything now: an empty list has nothing to open, bytes have no parts to fold.
    static func isOfUse(_ id: ActionID, _ model: Model) -> Bool

    // MARK: What it does

    /// Requests what the screen shows besides the store's figures again. A forced refresh also ends what is frozen.
    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect]
    /// The store's figures came.
    static func figuresCame(_ model: inout Model) -> [Effect]
    /// The entries that it chose are removed.
    static func targetsWent(_ model: inout Model) -> [Effect]
    /// Keeps the cursor and the rows in view within what there is, and asks for rows that are missing.
    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect]
    /// The action of a key, where it depends on the part of the screen.
    static func action(for key: Key, _ id: ActionID, _ model: Model) -> ActionID
    /// An action that only this screen has.
    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect]
    /// Opens what the cursor is on.
    static func open(_ model: inout Model) -> [Effect]
    static func back(_ model: inout Model) -> [Effect]
    /// Esc: leaves the smallest thing that can be left.
    static func clear(_ model: inout Model) -> [Effect]
    static func move(_ model: inout Model, to row: Int) -> [Effect]
    /// Moves by rows, down or, where they are negative, up.
    static func move(_ model: inout Model, by rows: Int) -> [Effect]
    /// A click into the list, or what stands above it.
    static func click(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect]
    static func drag(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect]
    static var doubleClick: ActionID { get }
    static func toggleEvents(_ model: inout Model)
    /// The columns that can be shown or not; `nil`: there are none to choose from.
    static func columnChoice(_ model: Model) -> ColumnChoice?
    /// Shows the columns as they were chosen.
    static func show(_ columns: ColumnChoice, _ model: inout Model)
    /// Nobody chooses any more.
    static func columnsChosen(_ model: inout Model) -> [Effect]
    /// Moves the columns, but for the first, by so many to the left.
    static func scroll(columns: Int, _ model: inout Model)

    // MARK: The prompt over it

    /// What stands behind the prompt's field.
    static func promptNote(_ model: Model) -> String
    static func promptChanged(_ model: inout Model, _ text: String) -> [Effect]
    static func promptTab(_ model: inout Model, backwards: Bool) -> [Effect]
    /// Enter keeps what was typed, Esc doesn't. What was typed last may still be under way.
    static func promptEnded(_ model: inout Model, _ prompt: Prompt, isKept: Bool) -> [Effect]

    // MARK: A line of its own

    /// Keys and what they do while a line of the screen has the keyboard; `nil`: none has.
    static func typingKeys(_ model: Model) -> [(key: String, title: String)]?
    static func press(_ model: inout Model, _ key: Key) -> [Effect]
    static func paste(_ model: inout Model, _ text: String) -> [Effect]
}

extension ScreenParts {
    // What the command line has no screen for begins with the archives.
    static func command(_ model: Model) -> CommandLine.Words { .init("ls") }
    static func shows(eventsOf archive: String, _ model: Model) -> Bool { false }
    static var isOfOneArchive: Bool { true }
    static func key(_ model: Model) -> String? { nil }
    static func targets(_ model: Model) -> ChosenEntries? { nil }
    static func copyable(_ model: Model) -> [CopyItem] {
        Browser.chosenEntry(model).map(CopyItem.items) ?? []
    }
    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts {
        .init(rest, infoRows: isTall ? 1 : 0)
    }
    // A table's first row is its header.
    static func pageRows(_ list: Rect) -> Int { max(0, list.rows - (list.rows > 1 ? 1 : 0)) }
    static func listed(_ model: Model) -> Timestamp? { nil }
    static func follows(_ model: Model) -> Bool { false }
    static func age(_ model: Model) -> ScreenAge? { nil }
    static func row(at point: Point, _ model: Model, _ layout: ScreenLayout) -> Int? {
        table(model)?.layout(in: layout.list).row(at: point)
    }
    static func problem(_ model: Model) -> String? { model.archives.problem }
    static func isOfUse(_ id: ActionID, _ model: Model) -> Bool { true }
    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] { [] }
    static func figuresCame(_ model: inout Model) -> [Effect] { [] }
    static func targetsWent(_ model: inout Model) -> [Effect] { [] }
    static func action(for key: Key, _ id: ActionID, _ model: Model) -> ActionID { id }
    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] { [] }
    static func clear(_ model: inout Model) -> [Effect] { back(&model) }
    static func click(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect] {
        moveToRow(at: point, &model, layout)
    }
    static func move(_ model: inout Model, by rows: Int) -> [Effect] {
        move(&model, to: max(0, cursor(model) + rows))
    }
    static func moveToRow(at point: Point, _ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        row(at: point, model, layout).map { move(&model, to: $0) } ?? []
    }
    static func drag(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect] { [] }
    static var doubleClick: ActionID { .open }
    static func toggleEvents(_ model: inout Model) {}
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
        }
    }
}

extension Model {
    /// The screen that is shown.
    var parts: any ScreenParts.Type { screen.parts }

    /// Whether keys go into a line of the screen's own.
    var isTyping: Bool { parts.typingKeys(self) != nil }
}

extension Browser {
    /// Why a filtered list is empty, and the key that clears the filter.
    static func noMatch(_ noun: String, _ filter: String, _ model: Model) -> String {
        "No \(noun) contains \"\(filter)\"; \(keyName(model, .clear)) clears the filter."
    }
}

/// The entries that an action applies to.
struct ChosenEntries: Sendable {
    var archive: ArchiveAddress
    var targets: [Target]
    /// Whether they stand for the whole archive, so that idle entries of it can be looked for where none is chosen.
    var canBeOthers = false
    /// Why it has to be chosen again: more are being marked at this moment, or the row isn't read.
    var isUnderWay: String?
    /// Why none is chosen though rows are seen.
    var absence = ""
    /// Those of them that the screen doesn't show.
    var hidden: Set<ExactText> = []
    /// What to tell of those that are left out.
    var omission: String?
    /// Looks up what isn't at hand because it may take a while; `nil` from it: it was stopped.
    var complete: (@Sendable (ChosenEntries, (Double) -> Bool) -> ChosenEntries?)?
}

extension Array where Element: Equatable {
    /// What a key goes on to that steps through all of them, around the end.
    func next(after element: Element) -> Element { self[((firstIndex(of: element) ?? 0) + 1) % count] }
}
