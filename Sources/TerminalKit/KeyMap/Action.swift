/// What an action is besides its name. A value; safe to share between threads.
public struct ActionFlags: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Changes or removes stored data.
    public static let destructive = ActionFlags(rawValue: 1)
    /// Worth a place in the footer.
    public static let footer = ActionFlags(rawValue: 2)
    /// Left out of help and palette: movement of the cursor and the like.
    public static let hidden = ActionFlags(rawValue: 4)
}

/// One thing a person can do. A value; safe to share between threads.
///
/// `ID` names the action (its raw value is the name in remaps and documents), `Context` the screens.
public struct Action<ID, Context>: Sendable
where
    ID: RawRepresentable<String> & Hashable & Sendable, Context: Hashable & Sendable
{
    public let id: ID
    /// A word or two, for the footer and the palette.
    public let title: String
    /// One sentence, for the help.
    public let help: String
    /// Any of these starts the action; the first is shown in the footer.
    public internal(set) var keys: [Key]
    /// The screens in which the action is live.
    public let contexts: Set<Context>
    public let flags: ActionFlags

    public init(
        _ id: ID, title: String, help: String, keys: [Key], contexts: Set<Context>, flags: ActionFlags = []
    ) {
        self.id = id
        self.title = title
        self.help = help
        self.keys = keys
        self.contexts = contexts
        self.flags = flags
    }

    /// Makes an action from keys in the spelling of ``Key/init(parsing:)``, separated by spaces.
    public init(
        _ id: ID, title: String, help: String, keys: String, contexts: Set<Context>, flags: ActionFlags = []
    ) throws(KeySpellingError) {
        var parsed: [Key] = []
        for spelling in keys.split(separator: " ") { parsed.append(try Key(parsing: String(spelling))) }
        self.init(id, title: title, help: help, keys: parsed, contexts: contexts, flags: flags)
    }

    /// The keys as help shows them: `enter, l`.
    public var keyList: String { keys.map(\.description).joined(separator: ", ") }
}
