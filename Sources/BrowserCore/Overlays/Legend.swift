import TerminalKit

enum Legend {
    struct Line: Sendable {
        let sign: String
        let words: String

        init(_ sign: String, _ words: String) { (self.sign, self.words) = (sign, words) }
    }

    static func lines(_ model: Model, matching text: String) -> [Line] {
        (rows(model) + bar(model)).filter { line in
            text.isEmpty || line.words.lowercased().contains(text.lowercased()) || line.sign == text
        }
    }

    /// The meaning of a row's sign, as part of a sentence.
    static func words(of sign: String, _ model: Model) -> String? {
        guard let words = rows(model).first(where: { $0.sign == sign })?.words else { return nil }
        return words.prefix(1).lowercased() + words.dropFirst().dropLast()
    }

    private static func rows(_ model: Model) -> [Line] {
        let glyphs = model.look.glyphs
        switch model.screen {
        case .entries:
            return [
                Line(String(glyphs.marked), "Marked: included in the next delete or expiry."),
                Line(String(glyphs.descending), "Evicted next, to free 1% of the limit."),
                Line(
                    "next 1%",
                    "Entries evicted to free 1% of the limit. next: to free one average entry."),
                Line("x", "Removed since the list was read."),
                Line("green, bold", "A row stored within the last seconds."),
                Line("yellow", "A row changed within the last seconds."),
                Line("red, struck", "A row that is evicted next unless accessed."),
                Line("3 of 200", "Matching rows and all rows; below the list: number of the selected row."),
                Line(
                    "queue", "Under S3-FIFO: small or main queue, and accesses since it entered it, up to 3."),
                Line("tier", "Where the value is: on disk, in the memory of a process, or both."),
                Line("updated", "Age of this list: long lists refresh less often."),
            ]
                + (model.isOfServer
                    ? [Line("1, 2 ...", "Keys that sort by the columns, from the left.")] : events)
        case .archives:
            return [
                Line("hit 1m", "Hit ratio of the last minute; -: no access."),
                Line("hit <1m", "Hit ratio since the browser opened the store, less than a minute ago."),
                Line("hit, by second", "Hit ratio of each second, 0 to 100%, latest at the right."),
                Line("overall", "Since the archive was created, or the process attached."),
                Line("disk, memory", "Bytes of values on disk, and of objects in the memory of processes."),
                Line("file size", "Bytes of the archive's files; x1.2: 1.2 times their maximum."),
                Line("!", "Damaged, alarm, or too small; the line below the list gives the reason."),
                Line("too small", "At least 10% of recorded keys were evicted in the 10 minutes before."),
                Line("damaged", "Parts of the log can't be read; vellum check lists them."),
            ] + events
        case .monitor:
            return events + [
                Line("bars: 1s mean", "Time per graph column. It shows the mean or, for bytes, the maximum."),
                Line("now (2s mean)", "Current value, which alarms check. The scale includes it."),
            ]
        case .advise:
            return [
                Line("L, 3, S, W", "Curves of LRU, S3-FIFO, SIEVE, W-TinyLFU, by recorded reads."),
                Line("1/4 of the keys", "Share of the keys that are sampled. SIEVE has then too few misses."),
                Line(String(glyphs.ascending), "The present limit, on the axis."),
                Line("measured", "Hit ratio of these reads in the archive."),
                Line("hits/s", "Hits gained or lost, compared with the current limit and policy."),
                Line("!", "A group that has much of the bytes, but few of the reads."),
            ]
        case .stores:
            return [
                Line(String(glyphs.favorite), "A favorite, listed first."),
                Line("1", "The key that shows this open store."),
            ]
        case .query, .groups:
            let key = Browser.keyName(model, .refresh)
            return [Line("updated", "Age of these rows: \(key) refreshes them.")]
        case .value: return [Line("read", "Age of this value: the store has changed or removed it since.")]
        case .messages: return []
        }
    }

    private static let events = [
        Line("missed", "Events that were overwritten before the browser read them."),
        Line("hash", "Hash of a key that was removed before its event was read."),
        Line("promoted", "A process loaded the value into its memory."),
    ]

    private static func bar(_ model: Model) -> [Line] {
        guard model.store != nil else { return [] }
        return [
            model.isOfServer
                ? Line("lookups", "Lookups by the browser; not included in hits, misses and commands.")
                : Line(
                    "accesses", "Accesses by the browser, as counted by the store; browsing adds none."),
            Line("writes", "Entries and messages that you changed or deleted here."),
            Line("lock", "Longest step of your changes; no lock was held longer."),
            Line("live", "The screen follows the store. following: the cursor stays at the newest row."),
            Line("frozen", "Rows keep their order while you move or type; shows for how long."),
            Line("no answer", "The store or server hasn't answered yet; seconds since the request."),
            Line("UNREACHABLE", "The store can't be read; the time of its last data is beside it."),
            Line("REMOVED", "The archive was removed; its last data is shown."),
            Line("ALARM", "A value crossed an alarm threshold, in this store or another."),
            Line("PAUSED", "The screen is paused; graphs and alarms continue."),
            Line("paste", "Keys that arrive faster than typing count as pasted: they change nothing."),
        ]
    }
}
