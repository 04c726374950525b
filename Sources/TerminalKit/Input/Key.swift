/// A key with its modifiers. A value; safe to share between threads.
public struct Key: Sendable, Hashable {
    public var code: KeyCode
    public var modifiers: Modifiers

    public init(_ code: KeyCode, modifiers: Modifiers = []) {
        self.code = code
        self.modifiers = modifiers
    }

    /// The key that types this character.
    public static func character(_ character: Character) -> Key { Key(.character(character)) }

    /// A character typed with Control held.
    public static func control(_ character: Character) -> Key {
        Key(.character(character), modifiers: .control)
    }

    /// The character to insert in a text field; nil for keys that aren't text.
    public var text: Character? {
        guard modifiers.isEmpty, case .character(let character) = code else { return nil }
        return character
    }
}

/// A key without its modifiers.
public enum KeyCode: Sendable, Hashable {
    case character(Character)
    case enter, escape, tab, backTab, backspace, delete, insert
    case up, down, left, right, pageUp, pageDown, home, end
    /// F1 is `function(1)`.
    case function(Int)
}

/// Keys held with another one. Shift isn't reported with a character: it changes the character.
public struct Modifiers: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let shift = Modifiers(rawValue: 1)
    public static let alt = Modifiers(rawValue: 2)
    public static let control = Modifiers(rawValue: 4)
}
