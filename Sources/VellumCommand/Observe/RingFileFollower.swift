import CacheAdvance

struct RingFileFollower {
    let ring: RingFile
    private(set) var cursor: RingFileCursor

    init(_ ring: RingFile, beforeLast count: Int) throws(RingFileError) {
        self.ring = ring
        cursor = try ring.cursor(beforeLast: count)
    }

    /// Messages since the last call; unless `isAll`, at most some megabytes. Reports lost messages.
    mutating func nextMessages(isAll: Bool = false) throws(RingFileError) -> RingFileNews {
        let news = try ring.news(after: cursor, mostBytes: isAll ? .max : 4 << 20)
        if news.someMayBeLost {
            Console.warn("\(ring.path) was overwritten before all was read; some messages may be missing")
        }
        cursor = news.next
        return news
    }
}

extension TailCommand {
    func run(on file: RingFilePath) throws {
        var follower = try RingFileFollower(file.openReadOnly(), beforeLast: lines)
        let output = OutputWriter()
        let printer = printer(to: output)
        while true {
            let news = try follower.nextMessages(isAll: !follow)
            for message in news.messages { try printer.print(message) }
            if let damage = news.damage {
                try output.flush()
                throw damage
            }
            guard news.messages.isEmpty || !follow else { continue }
            try output.flush()
            guard follow, !output.isAbandoned else { return }
            usleep(30_000)
        }
    }
}

extension WatchCommand {
    /// Prints appended messages of a ring file with the time of reading; it has no other events.
    func run(on file: RingFilePath) throws {
        var follower = try RingFileFollower(file.openReadOnly(), beforeLast: fromStart ? .max : 0)
        let output = OutputWriter()
        var rows = RowPrinter(
            live: Self.columns, layout: .fitting(output, json: self.rows.layout), output: output)
        try rows.printTitles()
        try output.flush()
        var left = limit ?? .max
        let end = seconds.map { MonotonicClock.seconds() + $0 }
        while left > 0 {
            let isLast = end.map { MonotonicClock.seconds() >= $0 } ?? false
            let news = try follower.nextMessages(isAll: isLast)
            for message in news.messages.prefix(left) {
                try rows.print([
                    .clock(.now()), .text(file.path), .text(EventKind.append.word), .absent,
                    .bytes(UInt64(message.count)), Cell(EventCause.request.word), .absent,
                ])
            }
            left -= min(left, news.messages.count)
            try output.flush()
            if let damage = news.damage { throw damage }
            if output.isAbandoned || left == 0 || isLast { return }
            let now = MonotonicClock.seconds()
            if news.messages.isEmpty {
                usleep(useconds_t(min(0.02, max(0, end.map { $0 - now } ?? 0.02)) * 1e6))
            }
        }
    }
}
