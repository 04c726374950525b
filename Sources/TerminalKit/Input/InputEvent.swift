/// An event from the user or the terminal. A value; safe to share between threads.
package enum InputEvent: Sendable, Hashable {
    case key(Key)
    case mouse(MouseEvent)
    case resize(Size)
    /// Text pasted in one piece, as the terminal sent it.
    case paste(String)
    /// A paste has begun, and neither more of it nor its end has come for two seconds. Given once for each.
    case pasteUnfinished
    /// Ctrl-C dropped a paste that hadn't ended.
    case pasteDropped
    /// The terminal's window got or lost the keyboard.
    case focus(Bool)
    /// Another thread asked for attention.
    case wake
    /// The program was suspended and continues; the next frame redraws the whole screen.
    case resumed
    /// The terminal has closed: nothing can be read or shown any more.
    case hangUp

    /// A notice for the user; empty for most events.
    package var words: String {
        switch self {
        case .pasteUnfinished:
            "A paste hasn't ended; Ctrl-C drops it."
        case .pasteDropped: "The unfinished paste was dropped."
        default: ""
        }
    }
}

/// A use of the mouse. A value; safe to share between threads.
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
