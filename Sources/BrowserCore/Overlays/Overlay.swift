import StorageEngine
import StoreInspection
import TerminalKit

/// What stands over a screen and has the keyboard.
enum Overlay: Sendable {
    case actions(ActionList)
    case plan(Plan)
    case expire(ExpireForm)
    case undoList(UndoList)
    case columns(ColumnChoice)
    case search(SearchList)
    case message(MessageBox)
    case choice(Choice)
    case copy(CopyMenu)
    case edit(EditPlan)

    /// What it is, where it isn't shown.
    var title: String {
        if case .message(let box) = self { return box.title }
        return "a question waits"
    }

    /// Whether the key that undoes works there.
    var offersUndo: Bool {
        switch self {
        case .message(let box): box.offersUndo
        case .choice(let choice): choice.offersUndo
        default: false
        }
    }

    /// The characters that mean something to a question with two buttons; nil of others.
    var knownCharacters: String? {
        switch self {
        case .plan(let plan) where plan.name != nil: nil
        case .plan, .choice: "hljkynq"
        case .edit: "hljkynq gGe"
        default: nil
        }
    }
}

struct ActionList: Sendable {
    /// The help shows a sentence for each action, the palette its name alone.
    var isHelp: Bool
    var field: TextField
    var selected = 0
    var first = 0

    enum Row: Sendable {
        case topic(String), action(BrowserAction), sign(Legend.Line)

        var isTopic: Bool { if case .topic = self { true } else { false } }
    }
}

/// What an action that writes will do. Its targets are frozen: they are the entries that were seen, whatever happens
/// to their rows meanwhile.
struct Plan: Sendable {
    enum Act: Sendable, Hashable {
        case change(PlannedAction)
        case undo(ReversibleAction)
        /// Deletes so many messages of a log.
        case clearLog(Int)
        case replaceFile(String)
    }

    var act: Act
    var archive: ArchiveAddress
    var targets: [Target] = []
    /// How many of the targets the screen doesn't show.
    var hidden = 0
    /// Of the targets' values, of what comes back, or of the messages.
    var bytes: UInt64
    /// What chose the targets, if not a person one by one: they are idle for longer than this.
    var idle: Duration?
    /// 0 is Cancel.
    var button = 0
    /// The archive's name as far as it is typed, where only that confirms; nil: a button does.
    var name: TextField?
    /// The first line in view: on a small screen not all fit.
    var first = 0

    init(
        _ change: PlannedAction, archive: ArchiveAddress, targets: [Target], hidden: Set<ExactText> = [],
        idle: Duration? = nil
    ) {
        act = .change(change)
        self.hidden = hidden.isEmpty ? 0 : targets.count { hidden.contains(ExactText($0.key)) }
        self.archive = archive
        self.targets = targets
        self.idle = idle
        bytes = targets.reduce(0) { $0 + UInt64($1.size) }
    }

    init(undoing action: ReversibleAction, archive: ArchiveAddress) {
        act = .undo(action)
        self.archive = archive
        bytes = action.bytes
    }

    init(replacing path: String, archive: ArchiveAddress) {
        act = .replaceFile(path)
        self.archive = archive
        bytes = 0
    }

    init(clearing log: ArchiveSample, at archive: ArchiveAddress) {
        act = .clearLog(log.entries)
        name = TextField(placeholder: "type \(archive.name)")
        self.archive = archive
        bytes = log.diskBytes
    }
}

/// How entries are to expire, before the plan is made. Its targets are frozen as a plan's are.
struct ExpireForm: Sendable {
    enum Choice: Int, Sendable, Hashable, CaseIterable { case after, now, never, idle }

    var archive: ArchiveAddress
    var targets: [Target]
    var hidden: Set<ExactText>
    var choice: Choice
    var after = TextField("5m")
    var idle = TextField("1h")
    var button = 1
    var problem: String?

    init(archive: ArchiveAddress, targets: [Target], hidden: Set<ExactText> = []) {
        self.archive = archive
        self.targets = targets
        self.hidden = hidden
        choice = targets.isEmpty ? .idle : .after
        (after.isSuggestion, idle.isSuggestion) = (true, true)
    }

    mutating func insert(_ text: String) {
        switch choice {
        case .after: after.insert(text)
        case .idle: idle.insert(text)
        case .now, .never: return
        }
        problem = nil
    }
}

struct UndoList: Sendable {
    var archive: ArchiveAddress
    /// Latest first.
    var actions: [ReversibleAction]
    var selected = 0
    var first = 0
}

struct MessageBox: Sendable, Hashable {
    var title: String
    var lines: [String]
    var first = 0
    /// Whether the key that opened it leads on to the list of actions.
    var leadsToActions = false
    var offersUndo = false
}

extension Overlay {
    static func message(_ title: String, _ lines: [String]) -> Overlay {
        .message(MessageBox(title: title, lines: lines))
    }
}

/// A question with two answers, of which the first leaves everything as it is.
struct Choice: Sendable {
    var title: String
    var lines: [String]
    var buttons: [String]
    /// 0 leaves.
    var selected = 0
    var first = 0
    var offersUndo = false
    let confirmed: @Sendable (inout Model) -> [Effect]
    let left: @Sendable (inout Model) -> Void

    init(
        title: String, lines: [String], leave: String = "Cancel", button: String,
        confirmed: @escaping @Sendable (inout Model) -> [Effect],
        left: @escaping @Sendable (inout Model) -> Void
    ) {
        self.title = title
        self.lines = lines
        buttons = [leave, button]
        self.confirmed = confirmed
        self.left = left
    }

    /// Enter presses the second button at first: neither changes anything.
    var preferringTheSecond: Choice {
        var choice = self
        choice.selected = 1
        return choice
    }
}
