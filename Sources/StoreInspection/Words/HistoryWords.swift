import StorageEngine

extension KeyHistory {
    /// A line for each event, oldest first: when, how many bytes, what, why, and by which process.
    package func lines(by process: (Int32) -> String) -> [String] {
        let sizes = events.map { $0.bytes == 0 ? "" : Figures.bytes(UInt64(clamping: $0.bytes)) }
        let width = sizes.reduce(0) { max($0, $1.count) }
        return zip(events, sizes).map { event, size in
            let size = String(repeating: " ", count: width - size.count) + size
            let sentence = event.sentence(by: event.pid == 0 ? nil : process(event.pid))
            return "\(Figures.date(event.time))  \(size)  \(sentence)"
        }
    }

    /// How far back the events of the archive reach; one sentence.
    package func reach(in archive: String, now: Timestamp) -> String {
        guard let time = reachesBackTo else {
            return "No event of \(archive) is kept since its index was made."
        }
        let rest =
            !isCutOff
            ? ", when the index of \(archive) was made"
            : events.first.map { $0.time < time } == true
                ? "; only some events before are known" : "; what happened before is not known"
        return "Events reach back to \(Figures.moment(time, now: now))\(rest)."
    }
}

extension EntryMetadata {
    /// What there is to say of an entry besides its value.
    package func facts(now: Timestamp) -> [(name: String, value: String)] {
        let rank = rank.map { ", rank \(Figures.count($0))" } ?? ""
        let expiry = expires.map {
            "\(Figures.date($0)), " + ($0 <= now ? "over" : "in \(Cell.deadline($0, now: now).human)")
        }
        var facts = [
            ("created", Figures.moment(created, now: now)),
            ("accessed", hits == 0 ? "never" : Figures.moment(accessed, now: now)),
            ("hits", Figures.count(hits) + rank), ("expires", expiry ?? "never"),
        ]
        if let owner { facts.append(("owner", owner)) }
        return facts
    }
}

/// What a process is called. Stateless; safe to call from any thread.
package enum ProcessName {
    /// `api (4121)`; `process 4121` if it was never seen.
    package static func words(_ pid: Int32, _ name: String?) -> String {
        name.map { "\($0) (\(pid))" } ?? "process \(pid)"
    }
}

/// Names and values, the values one below the other.
package enum FactLines {
    package static func lines(_ facts: [(name: String, value: String)]) -> [String] {
        let width = facts.reduce(0) { max($0, $1.name.count) }
        return facts.map { $0.name + String(repeating: " ", count: width + 2 - $0.name.count) + $0.value }
    }
}
