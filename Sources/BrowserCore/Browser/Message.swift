import StorageEngine
import StoreInspection
import TerminalKit

/// What happened. A value; safe to share between threads.
package enum Message: Sendable {
    /// It is that time now; nothing is refreshed.
    case clock(Timestamp)
    /// It is that time now, and time for a refresh.
    case tick(Timestamp)
    case input(InputEvent)
    case stores(Result<[StoreSummary], SourceError>)
    case figures(store: String, Result<StoreFigures, SourceError>, at: Timestamp)
    /// Nil when it was stopped.
    case arranged(ticket: Int, Result<Arranged?, SourceError>)
    case rows(ticket: Int, ListedRows)
    case value(ValuePurpose, key: String, archive: String, Result<ValueLoad?, SourceError>)
    case bytes(key: String, archive: String, offset: Int, Result<[UInt8]?, SourceError>)
    case entry(key: String, archive: String, Result<EntryMetadata?, SourceError>)
    case collected(ticket: Int, Collected<Marks>?)
    case progress(ticket: Int, Double)
    /// Nil when it was stopped.
    case idle(ticket: Int, Result<Collected<[Target]>?, SourceError>)
    /// What could be read; an archive that couldn't be has no page.
    case events(store: String, [EventPage])
    case biography(key: String, archive: String, Result<KeyHistory, SourceError>)
    case messages(archive: String, Range<Int>, Result<[LogLine], SourceError>)
    case properties(archive: String, Result<[String], SourceError>)
    /// Nil when it was stopped.
    case answered(ticket: Int, Result<QueryAnswer?, SourceError>)
    /// Rows that were written; nil when it was stopped.
    case exported(ticket: Int, path: String, Result<Int?, SourceError>)
    case reversible(UndoPurpose, archive: String, Result<[ReversibleAction], SourceError>)
    case changed(
        ticket: Int, PlannedAction, archive: String, Result<Carried<PlanOutcome>, SourceError>)
    /// Nil when it could no longer be undone.
    case undone(ticket: Int, Result<Carried<UndoOutcome>?, SourceError>)
    case cleared(ticket: Int, archive: String, Result<Carried<Removal>, SourceError>)
}
