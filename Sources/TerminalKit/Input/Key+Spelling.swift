package struct KeySpellingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Number of characters before the error.
    package let position: Int
    /// The error, without the position.
    package let reason: String

    package var description: String { "position \(position + 1): \(reason)" }
}

extension Key: CustomStringConvertible {
    /// Names of keys that aren't spelled by their character. A key's first name is displayed.
    private static let names: [(name: String, code: KeyCode)] = [
        ("enter", .enter), ("return", .enter), ("esc", .escape), ("escape", .escape), ("tab", .tab),
        ("backtab", .backTab), ("backspace", .backspace), ("bs", .backspace), ("delete", .delete),
        ("del", .delete), ("insert", .insert), ("ins", .insert), ("up", .up), ("down", .down),
        ("left", .left), ("right", .right), ("pageup", .pageUp), ("pgup", .pageUp),
        ("pagedown", .pageDown), ("pgdn", .pageDown), ("home", .home), ("end", .end),
        ("space", .character(" ")), ("lt", .character("<")), ("gt", .character(">")),
        ("comma", .character(",")),
    ]

    private static let modifierNames: [(name: String, modifier: Modifiers)] = [
        ("ctrl+", .control), ("alt+", .alt), ("shift+", .shift),
    ]

    /// The spelling that ``init(parsing:)`` reads: `x`, `enter`, `ctrl+x`, `alt+shift+up`, `f5`.
    package var description: String {
        var prefix = ""
        for (name, modifier) in Key.modifierNames where modifiers.contains(modifier) { prefix += name }
        switch code {
        case .function(let number): return prefix + "f\(number)"
        case .character(let character) where character != " " && character != ",":
            return prefix + String(character)
        default: return prefix + (Key.names.first { $0.code == code }?.name ?? "")
        }
    }

    /// Parses a key. Names and modifiers may be in any case; a single character denotes its key. `shift+tab` is `backtab`, and
    /// `ctrl+X` is `ctrl+x`: terminals send the same bytes.
    package init(parsing spelling: String) throws(KeySpellingError) {
        var rest = Substring(spelling)
        var modifiers: Modifiers = []
        var found = true
        while found {
            found = false
            // Compares bytes, because a combining character would join the plus sign.
            for (name, modifier) in Key.modifierNames
            where rest.utf8.count > name.utf8.count
                && zip(rest.utf8, name.utf8).allSatisfy({ $0 | 0x20 == $1 | 0x20 })
            {
                modifiers.insert(modifier)
                rest = Substring(decoding: rest.utf8.dropFirst(name.utf8.count), as: UTF8.self)
                found = true
            }
        }
        let position = max(0, spelling.count - rest.count)
        guard let code = Key.code(named: rest) else {
            let reason = rest.isEmpty ? "a key is missing" : "unknown key \"\(rest)\""
            throw KeySpellingError(position: position, reason: reason)
        }
        self.init(code, modifiers: modifiers)
        if code == .tab, modifiers.contains(.shift) {
            self.init(.backTab, modifiers: modifiers.subtracting(.shift))
        }
        if case .character(let character) = code, modifiers.contains(.control),
            let lower = character.lowercased().first
        {
            self.code = .character(lower)
        }
    }

    /// Parses a script: characters, and names in angle brackets (`jj<enter>/foo<ctrl+w>`); `<lt>` is `<`.
    package static func script(_ text: String) throws(KeySpellingError) -> [Key] {
        var keys: [Key] = []
        var rest = Substring(text)
        while let first = rest.first {
            let position = text.count - rest.count
            rest = rest.dropFirst()
            guard first == "<" else {
                keys.append(first == "\n" ? Key(.enter) : .character(first))
                continue
            }
            guard let close = rest.firstIndex(of: ">") else {
                throw KeySpellingError(position: position, reason: "> is missing; write <lt> for <")
            }
            do {
                keys.append(try Key(parsing: String(rest[..<close])))
            } catch {
                throw KeySpellingError(
                    position: position + 1 + error.position, reason: error.reason + "; write <lt> for <")
            }
            rest = rest[close...].dropFirst()
        }
        return keys
    }

    private static func code(named name: Substring) -> KeyCode? {
        if name.count == 1, let character = name.first { return .character(character) }
        let lower = name.lowercased()
        if let named = names.first(where: { $0.name == lower }) { return named.code }
        if lower.hasPrefix("f"), let number = Int(lower.dropFirst()), (1...63).contains(number) {
            return .function(number)
        }
        return nil
    }
}
