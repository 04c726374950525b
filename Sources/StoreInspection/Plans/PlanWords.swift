import ArchiveQuery
import StorageEngine

/// What both faces say of a person's action before and after it; `amount` is how many entries it is about.
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

    /// Behind `would`.
    package func infinitive(_ amount: String) -> String {
        switch self {
        case .delete, .expireNow, .expireIdle: "\(verb) \(amount)"
        case .setLifetime(let lifetime?): "expire \(amount) in \(DurationText.text(lifetime))"
        case .setLifetime(nil): "keep \(amount) from expiring"
        }
    }

    /// - Parameter idle: the idle time that chose the entries.
    package func question(_ amount: String, idle: Duration? = nil) -> String {
        let when = idle.map { " idle over \(DurationText.text($0))" } ?? (self == .expireNow ? " now" : "")
        return infinitive(amount).beginningLarge + when + "?"
    }

    /// While it is carried out, before how many.
    package var progress: String {
        switch self {
        case .delete: "deleting"
        case .expireNow, .expireIdle: "expiring"
        case .setLifetime: "changing the deadlines of"
        }
    }

    private func past(_ amount: String) -> String {
        switch self {
        case .delete, .expireNow, .expireIdle: "\(verb)d \(amount)"
        case .setLifetime(let lifetime?): "set \(amount) to expire in \(DurationText.text(lifetime))"
        case .setLifetime(nil): "kept \(amount) from expiring"
        }
    }

    /// `deleted 3 entries, 310 B`
    package func summary(of outcome: PlanOutcome) -> String {
        outcome.entries == 0 ? refusal : past(Figures.amount(outcome.entries, bytes: outcome.bytes))
    }

    package var isOfDeadlines: Bool { if case .setLifetime = self { true } else { false } }

    /// How many bytes may be written until it can't be undone any more; nil: however much is written.
    package func undoRoom(in status: ArchiveStatus, entries: Int, bytes: UInt64) -> UInt64? {
        let budget = status.undoBudget
        if isOfDeadlines { return min(budget.values, budget.room) }
        if budget.holds(entries: entries, valueBytes: bytes) { return nil }
        return max(64 << 10, (status.configuration.diskLimit ?? status.diskBytes) / 20)
    }

    /// How long it can be undone, behind `undone`.
    package static func grace(room: UInt64?) -> String {
        let written = room.map { "\(Figures.bytes($0)) are written, or " } ?? ""
        return "for ten minutes, or until \(written)the disk is full"
    }
}

extension ArchiveRates {
    /// How long so many bytes take to be written at this rate, in seconds: an estimate, for keys and frames aren't counted.
    package func seconds(toWrite bytes: UInt64, in status: ArchiveStatus) -> Double? {
        let value = status.entries > 0 ? Double(status.diskBytes) / Double(status.entries) : 0
        let rate = records * (value + 100) + (deletes + evictions + expirations) * 50
        return rate > 0 ? Double(bytes) / rate : nil
    }
}

extension ReversibleAction {
    /// Why it can't be undone any more, as far as that is known.
    package func ending(in archive: String, at now: Timestamp) -> String {
        let what =
            kind == .deadline
            ? "the change of deadlines of" : kind == .expire ? "the expiry of" : "the delete of"
        let why =
            if now >= end { "ten minutes have passed" } else if bytesLeft != nil {
                "as much has been written since as it could bear"
            } else { "somebody undid it, or the disk was full" }
        return
            "\(what) \(Figures.count(entries, "entry", "entries")) in \(archive) can't be undone any more: \(why)"
    }
}

extension PlanOutcome {
    /// What was planned and didn't happen, a line each, with the first `most` keys.
    package func remarks(listing most: Int) -> [String] {
        var lines = skips.prefix(most).map { skip in
            "\(TerminalSafe.quoted(skip.key)) \(skip.reason.past)"
        }
        if skips.count > most { lines.append("and \(Figures.count(skips.count - most, "other", "others"))") }
        if unchanged > 0 {
            lines.append("\(Figures.count(unchanged, "entry", "entries")) had no deadline any more")
        }
        return lines
    }

    /// Why what it did can't be undone; `nil`: it can, or there is nothing to undo.
    package var finality: String? {
        if entries > 0, isFinal {
            return "the disk is full: this can't be undone, and neither can what was deleted before it"
        }
        return entries == 0 || action != nil
            ? nil
            : "this can't be undone: what was before is not kept, for it was in a process' memory only, the disk has no "
                + "room for it, or others have written too much since"
    }
}

extension UndoOutcome {
    /// `restored 3 entries, 593 B; 1 was skipped; 2 had no room`
    package var summary: String {
        let amount = Figures.amount(entries, bytes: bytes)
        var parts = ["restored \(action.kind == .deadline ? "the deadlines of " : "")\(amount)"]
        if entries == 0 { parts = ["nothing was restored"] }
        if skippedCount > 0 { parts.append("\(Figures.count(skippedCount, "was", "were")) skipped") }
        if expired > 0 { parts.append("\(Figures.count(expired, "has", "have")) expired meanwhile") }
        if displaced > 0 { parts.append("\(Figures.count(displaced)) had no room") }
        if evicted > 0 {
            parts.append(
                "\(Figures.count(evicted, "entry that was", "entries that were")) here evicted to make room")
        }
        return parts.joined(separator: "; ")
    }

    /// What wasn't restored, a line each, with the first `most` keys.
    package func remarks(listing most: Int) -> [String] {
        let shown = skipped.prefix(most)
        var lines = shown.map {
            "\(TerminalSafe.quoted($0)) was recorded, changed or evicted meanwhile; what is there stays as it is"
        }
        let rest = skippedCount - shown.count
        if rest > 0 { lines.append("and \(Figures.count(rest, "other", "others"))") }
        return lines
    }

    package static func nothing(in archive: String) -> String {
        "nothing to undo in \(archive): only deletions and expiries can be undone, for ten minutes"
    }
}

extension String {
    package var beginningLarge: String { prefix(1).uppercased() + dropFirst() }
    /// With a capital letter and a full stop.
    package var asSentence: String { beginningLarge + "." }
}
