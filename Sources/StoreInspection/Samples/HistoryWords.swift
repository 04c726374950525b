import StorageEngine

extension KeyHistory {
    /// A line for each event and gap, oldest first: time, bytes, event, cause and process. Promotions in a row by one process
    /// share a line.
    package func lines(by process: (Int32) -> String) -> [String] {
        let sizes = events.map { $0.bytes == 0 ? "" : Figures.bytes(UInt64(clamping: $0.bytes)) }
        let width = sizes.reduce(0) { max($0, $1.count) }
        var lines: [(time: Timestamp, text: String)] = []
        var place = 0
        while place < events.count {
            let event = events[place]
            let size = String(repeating: " ", count: width - sizes[place].count) + sizes[place]
            var sentence = event.sentence(by: event.pid == 0 ? nil : process(event.pid))
            let others = events[(place + 1)...].prefix { $0.kind == .promotion && $0.pid == event.pid }
            let repeats = event.kind == .promotion ? Array(others) : []
            if let last = repeats.last {
                sentence += ", \(repeats.count + 1) times until \(Figures.time(last.time))"
            }
            lines.append((event.time, "\(Figures.date(event.time))  \(size)  \(sentence)"))
            place += 1 + repeats.count
        }
        for gap in gaps {
            let (start, end) = (Figures.date(gap.lowerBound), Figures.date(gap.upperBound))
            let place = lines.firstIndex { $0.time >= gap.upperBound } ?? lines.endIndex
            lines.insert((gap.lowerBound, "... events missed between \(start) and \(end)"), at: place)
        }
        return lines.map(\.text)
    }

    /// Whether the last change of the key is its removal. Otherwise, the log may show why the key has no entry.
    package var endsWithRemoval: Bool {
        let change = events.last { ![.promotion, .rejection].contains($0.kind) }
        return change.map { [.eviction, .expiry, .delete].contains($0.kind) } ?? false
    }

    /// A sentence about the time from which on the archive's events are known.
    package func reach(in archive: String, now: Timestamp) -> String {
        guard let time = reachesBackTo else { return "\(archive) has no events since its index was created." }
        if isCutOff {
            return "Events before \(Figures.date(time)) (\(Figures.ago(time, now: now))) were overwritten."
        }
        return
            "Events reach back to \(Figures.moment(time, now: now)), when the index of \(archive) was created."
    }
}

extension LogHistory {
    /// A heading, a line for each change, oldest first, and notes on missing information.
    package var lines: [String] {
        let sentences = KeyHistory(events: changes.map(\.event)).lines { _ in "" }
        let texts = zip(changes, sentences).map { change, text in
            text + (change.notBefore.map { "; exact time unknown, not before \(Figures.date($0))" } ?? "")
        }
        var missing: [String] = []
        if changes.isEmpty {
            missing.append(
                "No change of the key in \(reach). Changes of removed entries may have been reclaimed.")
        } else if isPartial {
            missing.append("Searched \(reach).")
        }
        if let last = changes.last, !KeyHistory(events: [last.event]).endsWithRemoval {
            missing.append("The log doesn't show the removal, after \(Figures.date(last.event.time)).")
        }
        return ["From the log:"] + (texts + missing).map { "  " + $0 }
    }

    /// The part of the log that was searched.
    package var reach: String {
        let total = Figures.bytes(UInt64(totalBytes))
        return isPartial
            ? "the newest \(Figures.bytes(UInt64(searchedBytes))) of \(total) of the log"
            : "the whole log, \(total)"
    }
}

extension EntryMetadata {
    package func facts(now: Timestamp) -> [(name: String, value: String)] {
        let rank = rank.map { ", rank \(Figures.count($0))" } ?? ""
        let expiry = expires.map {
            "\(Figures.date($0)), " + ($0 <= now ? "expired" : "in \(Cell.deadline($0, now: now).human)")
        }
        var facts = [
            ("created", Figures.moment(created, now: now)),
            ("accessed", hits == 0 ? "never" : Figures.moment(accessed, now: now)),
            ("hits", Figures.count(hits) + rank), ("expires", expiry ?? "never"),
        ]
        if let owner { facts.append(("owner", owner)) }
        if let queue { facts.append(("queue", queue.words)) }
        return facts
    }
}

extension QueueState {
    package var name: String { isSmall ? "small" : "main" }

    /// `small queue, frequency 1; enters the main queue from frequency 2 on`
    package var words: String {
        "\(name) queue, frequency \(frequency)"
            + (isSmall ? "; enters the main queue from frequency 2 on" : "")
    }
}

package enum ProcessName {
    /// `api (4121)`, or `process 4121` if the name is unknown.
    package static func words(_ pid: Int32, _ name: String?) -> String {
        name.map { "\($0) (\(pid))" } ?? "process \(pid)"
    }
}

package enum FactLines {
    package static func lines(_ facts: [(name: String, value: String)]) -> [String] {
        let width = facts.reduce(0) { max($0, $1.name.count) }
        return facts.map { $0.name + String(repeating: " ", count: width + 2 - $0.name.count) + $0.value }
    }
}
