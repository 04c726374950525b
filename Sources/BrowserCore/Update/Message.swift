import TerminalKit

/// What happened. A value; safe to share between threads.
public enum Message: Sendable {
    /// It is that time now; nothing is refreshed.
    case clock(Moment)
    /// It is that time now, and time for a refresh.
    case tick(Moment)
    case input(InputEvent)
    case stores(Result<[StoreSummary], SourceError>)
    case figures(store: String, Result<StoreFigures, SourceError>, at: Moment)
    /// Nil when it was stopped.
    case arranged(ticket: Int, Result<Arranged?, SourceError>)
    case rows(ticket: Int, [Int: Entry], Range<Int>)
    case value(ValuePurpose, key: String, archive: String, Result<ValueLoad?, SourceError>)
    case bytes(key: String, archive: String, offset: Int, Result<[UInt8]?, SourceError>)
    case entry(key: String, archive: String, Result<Entry?, SourceError>)
    case collected(ticket: Int, Marks?)
    case progress(ticket: Int, Double)
    /// Nil when it was stopped.
    case idle(ticket: Int, Result<[Target]?, SourceError>)
    /// What could be read; an archive that couldn't be has no page.
    case events(store: String, [EventPage])
    case biography(key: String, archive: String, Result<Biography, SourceError>)
    case messages(archive: String, Range<Int>, Result<[LogLine], SourceError>)
    case properties(archive: String, Result<[String], SourceError>)
    /// Nil when it was stopped.
    case answered(ticket: Int, Result<QueryAnswer?, SourceError>)
    /// Rows that were written; nil when it was stopped.
    case exported(ticket: Int, path: String, Result<Int?, SourceError>)
    case reversible(UndoPurpose, archive: String, Result<[Reversible], SourceError>)
    case changed(ticket: Int, Change, archive: String, Result<ChangeOutcome, SourceError>)
    /// Nil when it could no longer be undone.
    case undone(ticket: Int, Result<UndoReport?, SourceError>)
    case cleared(ticket: Int, archive: String, Result<ChangeOutcome, SourceError>)
}
