/// What a person or the terminal did. A value; safe to share between threads.
public enum InputEvent: Sendable, Hashable {
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
    /// The program was suspended and continues; the screen is drawn anew with the next frame.
    case resumed
    /// The terminal went away: nothing can be read or shown any more.
    case hangUp
}

/// A use of the mouse. A value; safe to share between threads.
public struct MouseEvent: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case press, release, click, doubleClick, drag, wheelUp, wheelDown
    }

    public enum Button: String, Sendable, Hashable, CaseIterable {
        case left, middle, right, none
    }

    public var kind: Kind
    /// ``Button/none`` for the wheel.
    public var button: Button
    public var at: Point
    public var modifiers: Modifiers

    public init(kind: Kind, button: Button = .left, at: Point, modifiers: Modifiers = []) {
        self.kind = kind
        self.button = button
        self.at = at
        self.modifiers = modifiers
    }
}
