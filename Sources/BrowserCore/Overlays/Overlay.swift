import StorageEngine
import StoreInspection
import TerminalKit

/// A dialog, menu or list over the screen, which has the keyboard.
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

    var title: String {
        if case .message(let box) = self { return box.title }
        return "Waiting for your answer"
    }

    var isList: Bool {
        switch self {
        case .actions, .undoList, .columns, .search, .copy: true
        case .plan, .expire, .message, .choice, .edit: false
        }
    }

    var offersUndo: Bool {
        switch self {
        case .message(let box): box.offersUndo
        case .choice(let choice): choice.offersUndo
        default: false
        }
    }

    /// The characters that a dialog with two buttons accepts; nil for other overlays.
    var knownCharacters: String? {
        switch self {
        case .plan(let plan) where plan.name != nil: nil
        case .plan, .choice: "hljkynqgG"
        case .edit: "hljkynq gGe"
        default: nil
        }
    }
}

struct ActionList: Sendable {
    var isHelp: Bool
    var field: TextField
    var selected = 0
    var first = 0

    enum Row: Sendable {
        case topic(String), action(BrowserAction), sign(Legend.Line)

        var isTopic: Bool { if case .topic = self { true } else { false } }
    }
}

/// A change to confirm. Its targets are fixed when it opens.
struct Plan: Sendable {
    enum Act: Sendable, Hashable {
        case change(PlannedAction)
        case undo(ReversibleAction)
        /// Replaces a file by the value of an entry; nil: by the rows of the screen.
        case replaceFile(String, EntryAddress?)
        case archive(ArchiveChange, ArchiveSample, Evictions)
    }

    var act: Act
    var archive: ArchiveAddress
    var targets: [Target] = []
    /// Targets that the screen doesn't show.
    var hidden = 0
    /// Size of the targets, the restored entries or the messages.
    var bytes: UInt64
    /// Idle time that selected the targets among all entries of the archive.
    var idle: Duration?
    var group: String?
    /// 0 is Cancel.
    var button = 0
    /// The archive's name, to be typed to confirm; nil: a button confirms.
    var name: TextField?
    var first = 0

    init(
        _ change: PlannedAction, archive: ArchiveAddress, targets: [Target], hidden: Set<ExactText> = [],
        idle: Duration? = nil, group: String? = nil
    ) {
        act = .change(change)
        self.group = group
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
        button = 1
    }

    init(replacing path: String, by entry: EntryAddress? = nil, archive: ArchiveAddress) {
        act = .replaceFile(path, entry)
        self.archive = archive
        bytes = 0
    }

    init(
        _ change: ArchiveChange, of sample: ArchiveSample, at archive: ArchiveAddress,
        evicting evictions: Evictions = Evictions()
    ) {
        act = .archive(change, sample, evictions)
        self.archive = archive
        bytes = evictions.bytes
        if change == .drop || change == .clear || evictions.entries > 0 {
            name = TextField(placeholder: "type \(archive.name)")
        }
    }
}

/// The form that chooses how entries expire. Its targets are fixed when it opens.
struct ExpireForm: Sendable {
    enum Choice: Int, Sendable, Hashable, CaseIterable { case after, now, never, idle }

    var archive: ArchiveAddress
    var targets: [Target]
    var hidden: Set<ExactText>
    var group: String?
    var choice: Choice
    var after = TextField("5m")
    var idle = TextField("1h")
    var button = 1
    var problem: String?

    init(_ chosen: ChosenEntries) {
        (archive, targets, hidden, group) = (chosen.archive, chosen.targets, chosen.hidden, chosen.group)
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
    var actions: [ReversibleAction]
    var selected = 0
    var first = 0
}

struct MessageBox: Sendable, Hashable {
    var title: String
    var lines: [String]
    var first = 0
    /// Whether F1 opens the help.
    var leadsToActions = false
    var offersUndo = false
}

extension Overlay {
    static func message(_ title: String, _ lines: [String]) -> Overlay {
        .message(MessageBox(title: title, lines: lines))
    }
}

/// A dialog with two buttons, the first of which cancels.
struct Choice: Sendable {
    var title: String
    var lines: [String]
    var buttons: [String]
    var selected: Int
    var first = 0
    var offersUndo = false
    let confirmed: @Sendable (inout Model) -> [Effect]
    let left: @Sendable (inout Model) -> Void

    init(
        title: String, lines: [String], leave: String = "Cancel", button: String, selected: Int = 0,
        confirmed: @escaping @Sendable (inout Model) -> [Effect],
        left: @escaping @Sendable (inout Model) -> Void = { _ in }
    ) {
        self.title = title
        self.lines = lines
        buttons = [leave, button]
        self.selected = selected
        self.confirmed = confirmed
        self.left = left
    }
}
