package enum TerminalError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Neither standard input nor `/dev/tty` is a terminal.
    case notATerminal
    /// Terminfo doesn't know the type (`TERM`), or it can't address its cursor.
    case unknownType(String)
    /// The process already has an open terminal; ncurses supports one.
    case alreadyOpen
    case system(call: String, code: Int32)

    package var description: String {
        switch self {
        case .notATerminal: "there is no terminal"
        case .unknownType(let type):
            "the terminal type \"\(type)\" is unknown or can't show screens; set TERM, for example to xterm-256color"
        case .alreadyOpen: "the terminal is already open"
        case .system(let call, let code): "\(call) failed with error \(code)"
        }
    }
}
