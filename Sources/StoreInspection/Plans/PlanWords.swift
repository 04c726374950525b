import ArchiveQuery
import StorageEngine

/// Texts before and after an action; `amount` is the number of entries in words.
extension PlannedAction {
    package var verb: String { words.verb }
    package var refusal: String { words.refusal }
    package var progress: String { words.progress }

    private var words: (verb: String, refusal: String, progress: String) {
        switch self {
        case .delete: ("delete", "nothing was deleted", "deleting")
        case .expireNow, .expireIdle: ("expire", "nothing was expired", "expiring")
        case .setLifetime: ("change expiry times", "nothing was changed", "changing expiry times of")
        }
    }

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
        return infinitive(amount).firstUppercased + when + "?"
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

    package var changesExpiryTimes: Bool { if case .setLifetime = self { true } else { false } }

    /// Bytes that may be written until the action can't be undone; nil for no limit.
    package func undoWriteBudget(in status: ArchiveStatus, entries: Int, bytes: UInt64) -> UInt64? {
        let budget = status.undoBudget
        if changesExpiryTimes { return min(budget.values, budget.space) }
        return budget.holds(entries: entries, valueBytes: bytes) ? nil : budget.exceededBytes
    }

    package static func undoWindow(writeBudget: UInt64?) -> String {
        let written = writeBudget.map { "\(Figures.bytes($0)) are written, or " } ?? ""
        return "for ten minutes, or until \(written)the disk is full"
    }
}

extension ArchiveRates {
    /// Estimated seconds until that number of bytes is written at this rate, without keys and frames.
    package func seconds(toWrite bytes: UInt64, in status: ArchiveStatus) -> Double? {
        let value = status.entries > 0 ? Double(status.diskBytes) / Double(status.entries) : 0
        let rate = records * (value + 100) + (deletes + evictions + expirations) * 50
        return rate > 0 ? Double(bytes) / rate : nil
    }
}

extension ReversibleAction {
    package func ending(in archive: String, at now: Timestamp) -> String {
        let what =
            kind == .deadline
            ? "change of expiry times of" : kind == .expire ? "expiry of" : "deletion of"
        let why =
            if now >= end { "ten minutes have passed" } else if bytesLeft != nil {
                "the writes since then exceed its undo space"
            } else { "it was undone, or the disk was full" }
        return
            "\(what) \(Figures.count(entries, "entry", "entries")) in \(archive) can no longer be undone: \(why)"
    }
}

extension PlanOutcome {
    /// The number of skipped entries by reason, then a line for each of the first `most` keys. If more than three are absent, they
    /// are only counted.
    package func remarks(listing most: Int) -> [String] {
        let counts = PlanSkip.Reason.allCases.compactMap { reason in
            let count = skips.count { $0.reason == reason }
            return count == 0 ? nil : "\(Figures.count(count)) \(reason.participle)"
        }
        let absent = skips.filter { $0.reason == .absent }
        let present = skips.filter { $0.reason != .absent }
        let listed = (present + (absent.count > 3 ? [] : absent)).prefix(most)
        var lines = listed.map { "\(TerminalSafe.quoted($0.key)) \($0.reason.past)" }
        if skips.count == 1, listed.first?.reason != .absent { lines = lines.map { $0 + "; skipped" } }
        if skips.count > 1 {
            let summary = "\(Figures.count(skips.count)) were skipped: \(counts.joined(separator: ", "))"
            lines.insert("\(summary) since they were read", at: 0)
        }
        if storedSince > 0 {
            let count = Figures.count(storedSince, "entry was", "entries were")
            lines.append("\(count) stored after the plan was made; skipped")
        }
        if unchanged > 0 {
            lines.append("\(Figures.count(unchanged, "entry", "entries")) no longer had an expiry time")
        }
        return lines
    }

    /// Why the change can't be undone; nil if it can.
    package var finality: String? {
        if entries > 0, isFinal { return "the disk is full: this and earlier deletions can't be undone" }
        return entries == 0 || action != nil
            ? nil
            : "this can't be undone: the old values were only in a process's memory, or their space was reused"
    }
}

extension UndoOutcome {
    /// `restored 3 entries, 593 B; 1 was skipped; 2 didn't fit the limit`
    package var summary: String {
        let amount = Figures.amount(entries, bytes: bytes)
        var parts = ["restored \(action.kind == .deadline ? "the expiry times of " : "")\(amount)"]
        if entries + damaged == 0 { parts = ["nothing was restored"] }
        if skippedCount > 0 { parts.append("\(Figures.count(skippedCount, "was", "were")) skipped") }
        if damaged > 0 { parts.append("\(Figures.count(damaged)) can't be read") }
        if expired > 0 { parts.append("\(Figures.count(expired)) expired since") }
        if displaced > 0 { parts.append("\(Figures.count(displaced)) didn't fit the limit") }
        if evicted > 0 {
            parts.append("\(Figures.count(evicted, "other entry was", "other entries were")) evicted")
        }
        return parts.joined(separator: "; ")
    }

    /// Entries that weren't restored, one line each for the first `most` keys, and the count of damaged ones.
    package func remarks(listing most: Int) -> [String] {
        let shown = skipped.prefix(most)
        var lines = shown.map {
            "\(TerminalSafe.quoted($0)) was recorded, changed or evicted after the action; skipped"
        }
        let rest = skippedCount - shown.count
        if rest > 0 {
            // Entries without a line: more than `most`, or dropped with their undo record, so that their keys are unknown.
            lines.append(
                shown.isEmpty
                    ? "\(Figures.count(rest, "entry was", "entries were")) changed, evicted or dropped after the action; skipped"
                    : "\(Figures.count(rest, "more entry was", "more entries were")) skipped"
                        + (skipped.count > shown.count ? "" : "; keys unknown"))
        }
        if damaged > 0 {
            lines.append(
                "\(Figures.count(damaged, "restored entry is", "restored entries are")) damaged; vellum check shows where"
            )
        }
        return lines
    }

    package static func nothing(in archive: String) -> String {
        "nothing to undo in \(archive): only deletions and expiries can be undone, for ten minutes"
    }
}

extension String {
    package var firstUppercased: String { prefix(1).uppercased() + dropFirst() }
    package var asSentence: String { firstUppercased + "." }
}
