import StoreInspection
import TerminalKit

/// The programs, folders and settings that the browser runs with.
package struct BrowserEnvironment: Sendable, Hashable {
    package var clipboard = Clipboard.direct
    /// A shell command; nil: `less`, or `more` if it is missing.
    package var pager: String?
    package var editor = "vi"
    package var temporaryFolder = "/tmp"
    /// Folder of written files with relative paths; empty: the working folder.
    package var writingFolder = ""

    /// A file that exists while the hint line is permanently hidden; nil: the choice isn't stored.
    package var hintsFile: StateFile?
    package var showsHints = false
    package var capturesMouse = true
    /// The password of servers whose address has none.
    package var serverPassword: String?
    /// Why the demo can't start; one line.
    package var demoProblem: String?

    package init() {}

    /// Reads `TERM`, `TMUX` and `STY`, `PAGER`, `VISUAL` and then `EDITOR`, and `TMPDIR`. Ignores empty variables.
    package init(environment: [String: String]) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        clipboard = Clipboard(environment: environment)
        pager = variable("PAGER")
        editor = variable("VISUAL") ?? variable("EDITOR") ?? editor
        serverPassword = variable("VALKEYCLI_AUTH") ?? variable("REDISCLI_AUTH")
        temporaryFolder = variable("TMPDIR") ?? temporaryFolder
    }
}
