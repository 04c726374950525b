import StorageEngine

extension EventKind {
    /// The kind in JSON and in columns of a pipe.
    package var word: String { "\(self)" }

    /// The kind on screen, at most nine columns.
    package var label: String {
        switch self {
        case .record: "recorded"
        case .update: "updated"
        case .promotion: "promoted"
        case .eviction: "evicted"
        case .expiry: "expired"
        case .delete: "deleted"
        case .rejection: "rejected"
        case .deadline: "TTL set"
        case .restore: "restored"
        case .append: "appended"
        case .resize: "resized"
        }
    }
}

extension EventCause {
    /// The cause in JSON and in columns of a pipe.
    package var word: String? { self == .none ? nil : "\(self)" }

    /// A label of at most 14 columns, and a longer reason.
    private var words: (label: String?, reason: String?) {
        switch self {
        case .none, .request: (nil, nil)
        case .limit: ("disk limit", "disk limit reached")
        case .deadline: ("TTL expired", "TTL expired")
        case .idle: ("idle", "idle for longer than requested")
        case .owner: ("with its owner", "with all entries of its owner")
        case .person: ("by a user", nil)
        case .tooLarge: ("over the limit", "larger than the limit")
        case .damage: ("damaged", "its bytes could not be read")
        case .processEnded: ("process ended", "the only process that held it in memory ended")
        case .undo: ("undo", "an action was undone")
        case .unencodable: ("not encodable", "the object could not be encoded")
        case .undecodable:
            ("not decodable", "its value could not be decoded as the requested type; it stays on disk")
        case .noSpace: ("disk full", "the disk is full")
        }
    }

    /// The cause of an event of that kind; nil where the kind implies it.
    package func label(of kind: EventKind) -> String? {
        switch (self, kind) {
        case (.deadline, let kind) where kind != .expiry: nil
        case (.undo, .restore): nil
        default: words.label
        }
    }

    package var reason: String? { words.reason }
}

extension ArchiveEvent {
    package var isAboutAll: Bool { kind == .delete && key == nil }

    /// The key; an incomplete one ends with an ellipsis.
    package func shownKey(ellipsis: String = "…") -> String? {
        key.map { keyIsComplete ? $0 : $0 + ellipsis }
    }

    /// The key in a table, or a placeholder.
    package func keyCell(ellipsis: String = "…") -> String {
        if let key = shownKey(ellipsis: ellipsis) { return key }
        switch kind {
        case .delete: return "(all)"
        case .append, .resize: return ""
        default: return keyHash == 0 ? "(unknown)" : "(hash \(String(keyHash, radix: 16)))"
        }
    }

    /// `evicted: disk limit reached, by app (4121)`
    package func sentence(by process: String?) -> String {
        let lifetime = expires.map {
            "\(Figures.interval($0.seconds(since: time))) until \(Figures.date($0))"
        }
        return change(by: process) + (lifetime.map { (kind == .deadline ? ": " : ", TTL ") + $0 } ?? "")
    }

    private func change(by process: String?) -> String {
        let what = kind.label + (isAboutAll ? " with all entries" : "")
        if let reason = cause.reason { return "\(what): \(reason)" + (process.map { ", by \($0)" } ?? "") }
        guard let process else { return what + (cause == .person ? " by a user" : "") }
        return what + " by " + process
    }
}

extension ReversibleAction.Kind {
    package var word: String { "\(self)" }

    package var participle: String {
        switch self {
        case .delete: "deleted"
        case .expire: "expired"
        case .deadline: "expiry changed"
        }
    }
}

extension PlanSkip.Reason {
    package var past: String {
        switch self {
        case .changed: "changed after it was read"
        case .absent: "was removed already"
        case .used: "was accessed after the plan was made"
        }
    }

    var participle: String {
        switch self {
        case .changed: "changed"
        case .absent: "removed"
        case .used: "accessed"
        }
    }
}

extension ValueEncoding {
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
