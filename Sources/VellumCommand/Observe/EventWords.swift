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
        case .unencodable: "unencodable"
        case .undecodable: "undecodable"
        case .noSpace: "noSpace"
        }
    }

    /// In a sentence; nil where what happened says it all.
    fileprivate var reason: String? {
        switch self {
        case .none, .request, .person: nil
        case .limit: "the disk limit left no room"
        case .deadline: "its deadline passed"
        case .idle: "it was idle for longer than was asked"
        case .owner: "with all entries of its owner"
        case .tooLarge: "it is larger than the limit"
        case .damage: "its bytes could not be read"
        case .processEnded: "only one process had it in memory, and that ended"
        case .undo: "an action was undone"
        case .unencodable: "the object could not be encoded"
        case .undecodable: "its value could not be decoded as the type that was asked for; it stays on disk"
        case .noSpace: "the disk is full"
        }
    }
}

extension ArchiveEvent {
    /// Whether it is the deletion of all entries at once.
    var isAboutAll: Bool { kind == .delete && key == nil }

    /// The key for eyes and programs: one of which only the beginning is known ends with an ellipsis.
    var shownKey: String? { key.map { keyIsComplete ? $0 : $0 + "…" } }

    /// What happened, why, and by which process: `evicted: the disk limit left no room, by app (4121)`.
    func sentence(by process: String) -> String {
        let what = kind.participle + (isAboutAll ? " with all entries" : "")
        if let reason = cause.reason { return "\(what): \(reason), by \(process)" }
        return what + (cause == .person ? " by a person, with " : " by ") + process
    }
}
