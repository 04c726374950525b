import ArchiveQuery
import CBOR
import Foundation
import StoreInspection

extension MessagesScreen {
    private static let batch = 256

    /// The selected message, read whole when a program needs it.
    static func input(_ model: Model) -> ProgramInput? {
        guard let log = model.log, log.count > 0 else { return nil }
        let (number, reader) = (log.number(at: log.row), log.reader)
        return ProgramInput(name: "message \(number) of \(log.archive.name)") {
            (folder, context) throws(SourceError) in
            let line = try reader.message(number, limit: .max, in: context.source)
            let file = try PrivateFile(named: "message." + (line.text == nil ? "bin" : "txt"), in: folder)
            let output = file.output
            try output.write(line.content)
            try output.flush()
            return file
        }
    }

    /// The messages that the list has: all, or those that pass the filter.
    static func export(_ model: Model) -> RowExport? {
        guard let log = model.log, let available = log.available, log.count > 0 else { return nil }
        let pattern = log.filter.pattern
        let reader = log.reader
        let kind = pattern == nil ? "" : "filtered "
        return RowExport(
            amount: Figures.count(log.count + log.filter.dropped, kind + "message", kind + "messages"),
            count: pattern == nil ? log.count : nil, noun: ("message", "messages"),
            formats: ".ndjson, .json, .csv, .tsv; others as text"
        ) { (context, file) throws(SourceError) in
            var omitted = (removed: 0, damaged: 0, untested: 0)
            var report = try write(to: file) { body throws(SourceError) in
                try read(available, of: reader, pattern, &omitted, context, body)
            }
            let omissions = [
                (omitted.removed, "already removed"), (omitted.damaged, "damaged"),
                (omitted.untested, "not tested (too slow)"),
            ]
            for (count, words) in omissions where count > 0 {
                report?.warnings.append(
                    "\(Figures.count(count)) of \(Figures.count(available.count)) \(words)")
            }
            return report
        }
    }

    /// Reads messages in their order. Returns their number; nil if stopped.
    private static func read(
        _ range: Range<Int>, of log: LogReader, _ pattern: FilterPattern?,
        _ omitted: inout (removed: Int, damaged: Int, untested: Int),
        _ context: QuestionContext, _ body: (LogLine) throws(SourceError) -> Void
    ) throws(SourceError) -> Int? {
        let timeLimit = SearchTimeLimit()
        var count = 0
        let isComplete = try log.scan(range, by: batch, limit: .max, context) { (page) throws(SourceError) in
            omitted.removed += page.missing
            omitted.damaged += page.damaged.count
            for (_, line) in page.lines {
                // Patterns match the part of a message that the list reads.
                let matches = pattern.map { $0.matches(line.cut.searched, within: timeLimit) } ?? true
                if matches == nil { omitted.untested += 1 }
                guard matches == true else { continue }
                try body(line)
                count += 1
            }
        }
        return isComplete ? count : nil
    }

    /// Writes rows with columns or, if the file name has no known extension, the messages as lines of text.
    private static func write(
        to output: OutputFile,
        _ read: @escaping ((LogLine) throws(SourceError) -> Void) throws(SourceError) -> Int?
    ) throws(SourceError) -> QueryReport? {
        guard FileFormat(fileName: output.path) == nil, !output.path.lowercased().hasSuffix(".json") else {
            let names = ["sequence", "time", "text", "data"]
            return try RowExport.write(names, to: output, values: \.row, read)
        }
        let file = try output.create()
        // An unfinished file is removed.
        defer { file.discard() }
        let writer = file.output
        let written = try read { line throws(SourceError) in
            try TerminalSafe.write(line.content + [UInt8(ascii: "\n")], to: writer)
        }
        guard let written else { return nil }
        try writer.flush()
        try file.finish()
        return QueryReport(rows: written)
    }
}

extension LogLine {
    /// The bytes of a message that was read whole.
    fileprivate var content: [UInt8] { text.map { Array($0.utf8) } ?? bytes }

    /// The message as the list reads it.
    fileprivate var cut: LogLine {
        size > LogLine.limit ? LogLine(content, sequence: sequence, time: time) : self
    }

    /// Number, seconds since 1970, and text or, of other bytes, data in base64.
    fileprivate var row: [CBORValue?] {
        [
            .unsigned(sequence), time.map(CBORValue.seconds), text.map { .text($0) },
            text == nil ? .text(Data(bytes).base64EncodedString()) : nil,
        ]
    }
}
