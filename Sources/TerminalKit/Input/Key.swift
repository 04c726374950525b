package struct Key: Sendable, Hashable {
    package var code: KeyCode
    package var modifiers: Modifiers

    package init(_ code: KeyCode, modifiers: Modifiers = []) {
        self.code = code
        self.modifiers = modifiers
    }

    package static func character(_ character: Character) -> Key { Key(.character(character)) }

    package static func control(_ character: Character) -> Key {
        Key(.character(character), modifiers: .control)
    }

    /// The character to insert in a text field; nil for other keys.
    package var text: Character? {
        guard modifiers.isEmpty, case .character(let character) = code else { return nil }
        return character
    }
}

extension Key: ExpressibleByExtendedGraphemeClusterLiteral {
    package init(extendedGraphemeClusterLiteral character: Character) { self = .character(character) }
}

package enum KeyCode: Sendable, Hashable {
    case character(Character)
    case enter, escape, tab, backTab, backspace, delete, insert
    case up, down, left, right, pageUp, pageDown, home, end
    /// F1 is `function(1)`.
    case function(Int)
}

/// Modifiers, with the bits of terminals' reports. Shift isn't reported with a character: it changes the character.
package struct Modifiers: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let shift = Modifiers(rawValue: 1)
    package static let alt = Modifiers(rawValue: 2)
    package static let control = Modifiers(rawValue: 4)
}
