import ArchiveQuery
import StorageEngine

/// What is said of a person's action before and after it; `amount` is how many entries it is about.
extension PlannedAction {
    /// What one says yes to.
    package var verb: String {
        switch self {
        case .delete: "delete"
        case .expireNow, .expireIdle: "expire"
        case .setLifetime: "change deadlines"
        }
    }

    /// After the answer no, and when it failed.
    package var refusal: String {
        switch self {
        case .delete: "nothing was deleted"
        case .expireNow, .expireIdle: "nothing was expired"
        case .setLifetime: "nothing was changed"
        }
    }

    package func question(_ amount: String, of archive: String) -> String {
        switch self {
        case .delete: "Delete \(amount) from \(archive)?"
        case .expireNow, .expireIdle: "Expire \(amount) of \(archive) now?"
        case .setLifetime(let lifetime?):
            "Let \(amount) of \(archive) expire in \(DurationText.text(lifetime))?"
        case .setLifetime(nil): "Keep \(amount) of \(archive) from expiring?"
        }
    }

    /// Behind `would`.
    package func infinitive(_ amount: String) -> String {
        switch self {
        case .delete, .expireNow, .expireIdle: "\(verb) \(amount)"
        case .setLifetime(let lifetime?): "let \(amount) expire in \(DurationText.text(lifetime))"
        case .setLifetime(nil): "keep \(amount) from expiring"
        }
    }

    package func past(_ amount: String) -> String {
        switch self {
        case .delete, .expireNow, .expireIdle: "\(verb)d \(amount)"
        case .setLifetime(_?): infinitive(amount)
        case .setLifetime(nil): "kept \(amount) from expiring"
        }
    }
}
