import StorageEngine

extension EventKind {
    /// In JSON and in columns.
    var word: String {
        switch self {
        case .record: "record"
        case .update: "update"
        case .promotion: "promotion"
        case .eviction: "eviction"
        case .expiry: "expiry"
        case .delete: "delete"
        case .rejection: "rejection"
        case .deadline: "deadline"
        case .restore: "restore"
        case .append: "append"
        case .resize: "resize"
        }
    }

    /// Of an entry, in a sentence.
    fileprivate var participle: String {
        switch self {
        case .record: "recorded"
        case .update: "updated"
        case .promotion: "taken into memory"
        case .eviction: "evicted"
        case .expiry: "expired"
        case .delete: "deleted"
        case .rejection: "refused"
        case .deadline: "given another deadline"
        case .restore: "brought back"
        case .append: "appended"
        case .resize: "resized"
        }
    }

    /// Whether the entry is gone afterwards.
    var removes: Bool { self == .eviction || self == .expiry || self == .delete }
}

extension EventCause {
    /// In JSON and in columns; nil: there is nothing to say.
    var word: String? {
        switch self {
        case .none: nil
        case .request: "request"
        case .limit: "limit"
        case .deadline: "deadline"
        case .idle: "idle"
        case .owner: "owner"
        case .person: "person"
        case .tooLarge: "tooLarge"
        case .damage: "damage"
        case .processEnded: "processEnded"
        case .undo: "undo"
        }
    }

    /// In a sentence; nil where what happened says it all.
    fileprivate var reason: String? {
        switch self {
        case .none, .request: nil
        case .limit: "the disk limit left no room"
        case .deadline: "its deadline passed"
        case .idle: "it was idle for longer than was asked"
        case .owner: "with all entries of its owner"
        case .person: "a person did it, with a tool"
        case .tooLarge: "it is larger than the limit"
        case .damage: "its bytes could not be read"
        case .processEnded: "only one process had it in memory, and that ended"
        case .undo: "an action was undone"
        }
    }
}

extension ArchiveEvent {
    /// Whether it is the deletion of all entries at once.
    var isAboutAll: Bool { kind == .delete && key == nil }

    /// The key for eyes and programs: one of which only the beginning is known ends with an ellipsis.
    var shownKey: String? { key.map { keyIsComplete ? $0 : $0 + "…" } }

    /// What happened, and why: `evicted: the disk limit left no room`.
    var sentence: String {
        if isAboutAll { return "deleted with all entries" }
        return kind.participle + (cause.reason.map { ": \($0)" } ?? "")
    }
}
