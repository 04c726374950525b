package enum InputEvent: Sendable, Hashable {
    case key(Key)
    case mouse(MouseEvent)
    case resize(Size)
    case paste(String)
    /// A paste had neither more bytes nor an end for two seconds. Sent once per paste.
    case pasteUnfinished
    /// Ctrl-C dropped an unfinished paste.
    case pasteDropped
    case focus(Bool)
    /// Another thread called the waker.
    case wake
    /// The program was suspended and continues; the next frame redraws the whole screen.
    case resumed
    case hangUp

    /// A notice for the user; empty for most events.
    package var words: String {
        switch self {
        case .pasteUnfinished: "Incomplete paste; ctrl+c discards it."
        case .pasteDropped: "The incomplete paste was discarded."
        default: ""
        }
    }
}

package struct MouseEvent: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case press, release, click, doubleClick, drag, wheelUp, wheelDown
    }

    package enum Button: String, Sendable, Hashable, CaseIterable {
        case left, middle, right, none
    }

    package var kind: Kind
    /// ``Button/none`` for the wheel.
    package var button: Button
    package var at: Point
    package var modifiers: Modifiers

    package init(kind: Kind, button: Button = .left, at: Point, modifiers: Modifiers = []) {
        self.kind = kind
        self.button = button
        self.at = at
        self.modifiers = modifiers
    }
}
