import StorageEngine

extension EventKind {
    /// For programs: in JSON and in columns of a pipe.
    package var word: String { words.word }
    /// For people, within nine columns.
    package var label: String { words.label }
    /// Predicate of a sentence about an entry.
    package var participle: String { self == .deadline ? "expiry time changed" : words.label }

    private var words: (word: String, label: String) {
        switch self {
        case .record: ("record", "recorded")
        case .update: ("update", "updated")
        case .promotion: ("promotion", "promoted")
        case .eviction: ("eviction", "evicted")
        case .expiry: ("expiry", "expired")
        case .delete: ("delete", "deleted")
        case .rejection: ("rejection", "rejected")
        case .deadline: ("deadline", "TTL set")
        case .restore: ("restore", "restored")
        case .append: ("append", "appended")
        case .resize: ("resize", "resized")
        }
    }
}

extension EventCause {
    /// For programs; nil: there is nothing to say.
    package var word: String? { words?.word }

    /// For people: within 17 columns, and in a sentence. Nil where what happened says it all.
    private var words: (word: String, label: String?, reason: String?)? {
        switch self {
        case .none: nil
        case .request: ("request", nil, nil)
        case .limit: ("limit", "disk limit", "the disk limit left no room")
        case .deadline: ("deadline", "expiry time", "its expiry time passed")
        case .idle: ("idle", "idle", "it was idle for longer than was asked")
        case .owner: ("owner", "with its owner", "with all entries of its owner")
        case .person: ("person", "by a user", nil)
        case .tooLarge: ("tooLarge", "over the limit", "it is larger than the limit")
        case .damage: ("damage", "damaged", "its bytes could not be read")
        case .processEnded:
            ("processEnded", "process ended", "only one process had it in memory, and that ended")
        case .undo: ("undo", "undo", "an action was undone")
        case .unencodable: ("unencodable", "not encodable", "the object could not be encoded")
        case .undecodable:
            (
                "undecodable", "not decodable",
                "its value could not be decoded as the type that was asked for; it stays on disk"
            )
        case .noSpace: ("noSpace", "disk full", "the disk is full")
        }
    }

    /// What stands beside an event of that kind.
    package func label(of kind: EventKind) -> String? {
        switch (self, kind) {
        // The kinds of these events imply their causes.
        case (.deadline, let kind) where kind != .expiry: nil
        case (.undo, .restore): nil
        default: words?.label
        }
    }

    package var reason: String? { words?.reason }
}

extension ArchiveEvent {
    /// Whether it is the deletion of all entries at once.
    package var isAboutAll: Bool { kind == .delete && key == nil }

    /// The key for eyes and programs: one of which only the beginning is known ends with an ellipsis.
    package func shownKey(ellipsis: String = "…") -> String? {
        key.map { keyIsComplete ? $0 : $0 + ellipsis }
    }

    /// The key in a table, or what stands for it.
    package func keyCell(ellipsis: String = "…") -> String {
        if let key = shownKey(ellipsis: ellipsis) { return key }
        switch kind {
        case .delete: return "(all)"
        case .append, .resize: return ""
        default: return "(unknown)"
        }
    }

    /// What happened, why, and by which process: `evicted: the disk limit left no room, by app (4121)`.
    package func sentence(by process: String?) -> String {
        let what = kind.participle + (isAboutAll ? " with all entries" : "")
        if let reason = cause.reason { return "\(what): \(reason)" + (process.map { ", by \($0)" } ?? "") }
        guard let process else { return what + (cause == .person ? " by a user" : "") }
        return what + (cause == .person ? " by a user, with " : " by ") + process
    }
}

extension ReversibleAction.Kind {
    /// For programs.
    package var word: String {
        switch self {
        case .delete: "delete"
        case .expire: "expire"
        case .deadline: "deadline"
        }
    }

    /// For people.
    package var participle: String {
        switch self {
        case .delete: "deleted"
        case .expire: "expired"
        case .deadline: "expiry changed"
        }
    }
}

extension PlanSkip.Reason {
    /// Behind the key of an entry that was left alone.
    package var past: String {
        switch self {
        case .changed: "changed after the plan was made; left unchanged"
        case .absent: "no longer exists"
        case .used: "was accessed after the plan was made; left unchanged"
        }
    }
}

extension ValueEncoding {
    /// On screen; nil if unknown.
    package var label: String? {
        switch self {
        case .unknown: nil
        case .cbor: "CBOR"
        case .json: "JSON"
        case .propertyList: "property list"
        case .text: "text"
        }
    }
}
