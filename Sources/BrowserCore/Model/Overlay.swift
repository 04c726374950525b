import TerminalKit

/// What stands over a screen and has the keyboard.
enum Overlay: Sendable {
    case actions(ActionList)
    case plan(Plan)
    case message(MessageBox)
}

/// Help and palette: actions to search and to run.
struct ActionList: Sendable {
    /// The help shows a sentence for each action, the palette its name alone.
    var isHelp: Bool
    var field: TextField
    var selected = 0
    var first = 0
}

/// What a destructive action will do. Its targets are frozen: they are the entries that were seen, whatever
/// happens to their rows meanwhile.
struct Plan: Sendable {
    var archive: String
    var targets: [Target]
    var bytes: UInt64
    /// 0 is Cancel.
    var button = 0

    init(archive: String, targets: [Target]) {
        self.archive = archive
        self.targets = targets
        bytes = targets.reduce(0) { $0 + UInt64($1.size) }
    }
}

/// Text to read and close.
struct MessageBox: Sendable, Hashable {
    var title: String
    var lines: [String]
    var first = 0
}
