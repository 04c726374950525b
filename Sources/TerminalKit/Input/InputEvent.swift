/// What a person or the terminal did. A value; safe to share between threads.
package enum InputEvent: Sendable, Hashable {
    case key(Key)
    case mouse(MouseEvent)
    /// The terminal has a new size.
    case resize(Size)
    /// Text pasted in one piece, as the terminal sent it.
    case paste(String)
    /// The terminal's window got or lost the keyboard.
    case focus(Bool)
    /// Another thread asked for attention.
    case wake
    /// The program was suspended and continues; the next frame redraws the whole screen.
    case resumed
    /// The terminal went away: nothing can be read or shown any more.
    case hangUp
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
