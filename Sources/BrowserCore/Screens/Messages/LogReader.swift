import StoreInspection

/// The messages of a range, with their numbers.
struct LogPage: Sendable {
    var range: Range<Int>
    var lines: [(number: Int, line: LogLine)] = []
    /// Numbers of messages that are damaged.
    var damaged: [Int] = []
    /// The oldest message that existed after the range was read, if some of the range no longer existed; else 0.
    var existing = 0

    /// Number of messages that were dropped or deleted.
    var missing: Int { range.count - lines.count - damaged.count }
}

/// Reads the messages that a log had at a moment.
struct LogReader: Sendable {
    let archive: ArchiveAddress
    /// The number after the last message.
    let end: Int
    let moment: LogMoment
    /// A message that was read. If sequences grow from it as numbers do, no message in between is damaged.
    var known: (number: Int, line: LogLine)?

    /// - Throws: also if the message is damaged or no longer exists.
    func message(
        _ number: Int, limit: Int = LogLine.limit, in source: any StoreSource
    ) throws(SourceError) -> LogLine {
        let page = try page(number..<number + 1, limit: limit, in: source)
        guard let found = page.lines.first else {
            throw SourceError(page.missing > 0 ? "the message was removed" : "the message is damaged")
        }
        return found.line
    }

    /// Needs a second read unless sequences show that no message is damaged, and more reads for each damaged part.
    func page(
        _ range: Range<Int>, limit: Int = LogLine.limit, in source: any StoreSource
    ) throws(SourceError) -> LogPage {
        var page = LogPage(range: range)
        let read = try read(from: range.lowerBound, count: range.count, limit: limit, in: source)
        let first = range.lowerBound + read.missing
        if read.missing > 0 {
            page.existing = firstExisting(in: source) ?? first
            // These messages still exist, but their headers are unreadable.
            page.damaged = Array(max(range.lowerBound, min(page.existing, first))..<first)
        }
        let rest = first..<range.upperBound
        if isWhole(read.lines, in: rest) {
            page.lines = zip(rest, read.lines).map { ($0, $1) }
        } else {
            // The read returned messages after the range in place of damaged ones.
            let lines = try prefix(of: read.lines[...], before: range.upperBound, in: source)
            try place(lines, in: rest, &page, source)
        }
        return page
    }

    /// Reads a range in batches, oldest first; skips removed messages. Returns false if stopped.
    func scan(
        _ range: Range<Int>, by batch: Int, limit: Int = LogLine.limit, _ context: QuestionContext,
        _ body: (LogPage) throws(SourceError) -> Void
    ) throws(SourceError) -> Bool {
        var reader = self
        var next = range.lowerBound
        while next < range.upperBound {
            guard context.progress(Double(next - range.lowerBound) / Double(range.count)) else {
                return false
            }
            var page = try reader.page(
                next..<min(next + batch, range.upperBound), limit: limit, in: context.source)
            reader.known = page.lines.last ?? reader.known
            next = min(range.upperBound, max(page.range.upperBound, page.existing))
            page.range = page.range.lowerBound..<next
            try body(page)
        }
        return true
    }

    private func read(
        from number: Int, count: Int, limit: Int, in source: any StoreSource
    ) throws(SourceError) -> LogBatch {
        try source.messages(count: count, behind: end - 1 - number, at: moment, limit: limit, in: archive)
    }

    /// Whether sequences show that these are all messages of the range.
    private func isWhole(_ lines: [LogLine], in range: Range<Int>) -> Bool {
        guard lines.count == range.count, let last = lines.last, let known else { return range.isEmpty }
        return known.number <= range.lowerBound
            && last.sequence &- known.line.sequence == UInt64(range.upperBound - 1 - known.number)
    }

    private func place(
        _ lines: ArraySlice<LogLine>, in range: Range<Int>, _ page: inout LogPage, _ source: any StoreSource
    ) throws(SourceError) {
        if lines.isEmpty {
            page.damaged += range
        } else if lines.count >= range.count {
            page.lines += zip(range, lines).map { ($0, $1) }
        } else {
            let middle = range.lowerBound + range.count / 2
            let former = try prefix(of: lines, before: middle, in: source)
            try place(former, in: range.lowerBound..<middle, &page, source)
            try place(lines[former.endIndex...], in: middle..<range.upperBound, &page, source)
        }
    }

    /// The lines of messages before a number, by their sequences.
    private func prefix(
        of lines: ArraySlice<LogLine>, before number: Int, in source: any StoreSource
    ) throws(SourceError) -> ArraySlice<LogLine> {
        let next = try read(from: number, count: 1, limit: 1, in: source).lines.first
        return lines.prefix { line in next.map { line.sequence < $0.sequence } ?? true }
    }

    /// The number of the oldest message that exists now; nil if unknown.
    private func firstExisting(in source: any StoreSource) -> Int? {
        guard let figures = try? source.figures(store: archive.store) else { return nil }
        guard let sample = figures.archives.first(where: { $0.name == archive.name }),
            sample.identity == moment.identity, sample.records >= moment.appended
        else { return end }
        return sample.problem == nil
            ? end + Int(clamping: sample.records - moment.appended) - sample.entries : nil
    }
}
