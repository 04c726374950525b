import ArchiveQuery
import StorageEngine
import StoreInspection

/// What the model wants done outside of itself. A value; safe to share between threads.
package enum Effect: Sendable {
    case loadStores
    case loadFigures(store: String)
    case arrange(ticket: Int, ArrangementRequest)
    case loadRows(ticket: Int, Arrangement, Range<Int>)
    case loadValue(ValuePurpose, key: String, in: ArchiveAddress)
    case loadBytes(key: String, range: Range<Int>, in: ArchiveAddress)
    case checkValue(key: String, in: ArchiveAddress)
    /// Looks up key and sequence of every row.
    case collect(ticket: Int, Arrangement)
    /// The entries that were last accessed before a moment.
    case collectIdle(ticket: Int, before: Timestamp, in: ArchiveAddress)
    case loadEvents(store: String, [EventRequest])
    case loadBiography(key: String, in: ArchiveAddress)
    /// The messages of a range, of a log that ends at a number.
    case loadMessages(in: ArchiveAddress, Range<Int>, end: Int, nextEvent: UInt64)
    /// Names of properties, for completion.
    case loadProperties(in: ArchiveAddress)
    case query(ticket: Int, QueryRequest)
    /// Writes what comes of a query to a new file.
    case export(ticket: Int, QueryRequest, path: String)
    case loadReversible(UndoPurpose, in: ArchiveAddress)
    // The effects that change a store: a person confirmed them.
    case change(ticket: Int, PlannedAction, [Target], in: ArchiveAddress)
    case undo(ticket: Int, ReversibleAction, in: ArchiveAddress)
    case clearLog(ticket: Int, in: ArchiveAddress)
    /// Stops the job with that ticket; nothing is heard of it any more.
    case stop(ticket: Int)
    case quit
    case startDemo
}

/// Where a value is wanted.
package enum ValuePurpose: Sendable, Hashable {
    case preview, screen
}

/// What reversible actions are asked for: to plan the undoing of the latest, or to choose.
package enum UndoPurpose: Sendable, Hashable {
    case latest, list
}

/// The archive whose events are wanted, from a number on; nil: all that are still known.
package struct EventRequest: Sendable, Hashable {
    package var archive: String
    package var from: UInt64?
}

extension Effect: CustomStringConvertible {
    /// One line, for tests and for traces.
    package var description: String {
        switch self {
        case .loadStores: "load stores"
        case .loadFigures(let store): "load figures of \(store)"
        case .arrange(_, let request):
            "arrange \(request.archive.name) by \(request.order.column.rawValue)"
                + (request.order.descending ? " descending" : "")
                + (request.filter.isEmpty ? "" : " filter \"\(request.filter)\"")
                + (request.base == nil ? ", new listing" : "")
        case .loadRows(_, _, let range): "load rows \(range)"
        case .loadValue(let purpose, let key, let archive): "load value \(archive.name)/\(key) for \(purpose)"
        case .loadBytes(let key, let range, let archive): "load bytes \(range) of \(archive.name)/\(key)"
        case .checkValue(let key, let archive): "check value \(archive.name)/\(key)"
        case .collect: "collect all rows"
        case .collectIdle(_, let before, let archive):
            "collect idle of \(archive.name) before \(before.microseconds / 1_000_000)"
        case .loadEvents(_, let requests):
            "load events of "
                + requests.map { $0.archive + ($0.from.map { " from \($0)" } ?? "") }.joined(separator: ", ")
        case .loadBiography(let key, let archive): "load biography of \(archive.name)/\(key)"
        case .loadMessages(let archive, let range, _, _): "load messages \(range) of \(archive.name)"
        case .loadProperties(let archive): "load properties of \(archive.name)"
        case .query(_, let request): "query \(request.archive.name): \(request.pipeline)"
        case .export(_, let request, let path):
            "export \(request.archive.name): \(request.pipeline) to \(path)"
        case .loadReversible(let purpose, let archive): "load reversible of \(archive.name) for \(purpose)"
        case .change(_, let action, let targets, let archive):
            "\(action.trace) \(targets.count) of \(archive.name)"
        case .undo(_, let action, let archive): "undo \(action.id) of \(archive.name)"
        case .clearLog(_, let archive): "clear \(archive.name)"
        case .stop: "stop"
        case .quit: "quit"
        case .startDemo: "start demo"
        }
    }
}

extension PlannedAction {
    fileprivate var trace: String {
        switch self {
        case .delete: "delete"
        case .expireNow: "expire now"
        case .expireIdle: "expire idle"
        case .setLifetime(let lifetime?): "expire in \(DurationText.text(lifetime))"
        case .setLifetime(nil): "expire never"
        }
    }
}
