import TerminalKit

/// What the browser asks of a screen. Each has a type that answers, in a folder with its state, its view and what its keys do;
/// ``Screen/parts`` leads there. Stateless; safe to call from any thread.
protocol ScreenParts {
    // MARK: What it is about

    /// What the top bar shows, from the widest to the closest.
    static func path(_ model: Model) -> [String]
    static func archive(_ model: Model) -> String?
    /// The command line that gives what the screen shows.
    static func command(_ model: Model) -> CommandLine.Words
    /// Whether an archive's events are in view.
    static func shows(eventsOf archive: String, _ model: Model) -> Bool

    // MARK: How it looks

    /// Divides what the bars leave. `isTall`: there is room for more than the list.
    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts
    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame)
    /// The row under the cursor, from 0, and the first in view.
    static func cursor(_ model: Model) -> Int
    static func firstRow(_ model: Model) -> Int
    /// What the list is drawn from, and clicks are held against; `nil`: it is no table.
    static func table(_ model: Model) -> Table?
    static func row(at point: Point, _ model: Model, _ layout: ScreenLayout) -> Int?
    /// What went wrong, unless the screen itself says it in full.
    static func problem(_ model: Model) -> String?
    /// What the cursor is on, in full, and where it is.
    static func place(_ model: Model) -> StatusView.Content?
    /// Whether an action does anything now: an empty list has nothing to open, bytes have no parts to fold.
    static func isOfUse(_ id: ActionID, _ model: Model) -> Bool

    // MARK: What it does

    /// Asks the store anew for what it shows beside the store's figures. A forced refresh also ends what is frozen.
    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect]
    /// Brings cursor and window in line with what there is and with the screen's size, and asks for what is in view and not
    /// known.
    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect]
    /// An action that only this screen has.
    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect]
    /// Opens what the cursor is on.
    static func open(_ model: inout Model) -> [Effect]
    static func back(_ model: inout Model) -> [Effect]
    /// Esc: leaves the smallest thing that can be left.
    static func clear(_ model: inout Model) -> [Effect]
    static func move(_ model: inout Model, to row: Int) -> [Effect]
    /// A click into the list, or what stands above it.
    static func click(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect]
    static var doubleClick: ActionID { get }
}

extension ScreenParts {
    // What the command line has no screen for begins with the archives.
    static func command(_ model: Model) -> CommandLine.Words { .init("ls") }
    static func shows(eventsOf archive: String, _ model: Model) -> Bool { false }
    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts {
        .init(rest, infoRows: isTall ? 1 : 0)
    }
    static func row(at point: Point, _ model: Model, _ layout: ScreenLayout) -> Int? {
        table(model)?.layout(in: layout.list).row(at: point)
    }
    static func problem(_ model: Model) -> String? { model.archives.problem }
    static func isOfUse(_ id: ActionID, _ model: Model) -> Bool { true }
    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] { [] }
    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] { [] }
    static func clear(_ model: inout Model) -> [Effect] { back(&model) }
    static func click(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect] {
        moveToRow(at: point, &model, layout)
    }
    static func moveToRow(at point: Point, _ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        row(at: point, model, layout).map { move(&model, to: $0) } ?? []
    }
    static var doubleClick: ActionID { .open }
}

extension Screen {
    var parts: any ScreenParts.Type {
        switch self {
        case .stores: StoresScreen.self
        case .archives: ArchivesScreen.self
        case .entries: EntriesScreen.self
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
}
