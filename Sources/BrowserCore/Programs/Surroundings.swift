import StoreInspection
import TerminalKit

/// What the browser has around it besides the store: the terminal's clipboard, a pager, an editor, a folder for what these
/// are given. A value; safe to share between threads.
package struct Surroundings: Sendable, Hashable {
    package var clipboard = Clipboard.direct
    /// A command line of the shell; nil: `less`, or where there is none `more`.
    package var pager: String?
    package var editor = "vi"
    package var temporaryFolder = "/tmp"
    /// Where a file is written whose name has no folder; empty: the working folder.
    package var writingFolder = ""

    /// Is there when the line of hints was hidden for good; nil: nobody remembers.
    package var hintsFile: StateFile?
    package var showsHints = false
    /// Whether the terminal sends the events of the mouse at first.
    package var capturesMouse = true
    /// Why the demo can't be shown; one line.
    package var demoProblem: String?

    package init() {}

    /// Reads `TERM`, `TMUX` and `STY`, `PAGER`, `VISUAL` and then `EDITOR`, and `TMPDIR`. An empty variable is none.
    package init(environment: [String: String]) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        clipboard = Clipboard(environment: environment)
        pager = variable("PAGER")
        editor = variable("VISUAL") ?? variable("EDITOR") ?? editor
        temporaryFolder = variable("TMPDIR") ?? temporaryFolder
    }
}
