/// What the model wants done outside of itself. A value; safe to share between threads.
public enum Effect: Sendable {
    case loadStores
    case loadFigures(store: String)
    case arrange(ticket: Int, ArrangementRequest)
    case loadRows(ticket: Int, Arrangement, Range<Int>)
    case loadValue(ValuePurpose, key: String, archive: String, store: String)
    case loadBytes(key: String, range: Range<Int>, archive: String, store: String)
    case checkValue(key: String, archive: String, store: String)
    /// Looks up key and sequence of every row.
    case collect(ticket: Int, Arrangement)
    /// The one effect that changes a store.
    case delete(ticket: Int, [Target], archive: String, store: String)
    /// Stops the job with that ticket; nothing is heard of it any more.
    case stop(ticket: Int)
    case quit
    case startDemo
}

/// Where a value is wanted.
public enum ValuePurpose: Sendable, Hashable {
    case preview, screen
}

extension Effect: CustomStringConvertible {
    /// One line, for tests and for traces.
    public var description: String {
        switch self {
        case .loadStores: "load stores"
        case .loadFigures(let store): "load figures of \(store)"
        case .arrange(_, let request):
            "arrange \(request.archive) by \(request.order.column.rawValue)"
                + (request.order.descending ? " descending" : "")
                + (request.filter.isEmpty ? "" : " filter \"\(request.filter)\"")
                + (request.base == nil ? ", new listing" : "")
        case .loadRows(_, _, let range): "load rows \(range)"
        case .loadValue(let purpose, let key, let archive, _): "load value \(archive)/\(key) for \(purpose)"
        case .loadBytes(let key, let range, let archive, _): "load bytes \(range) of \(archive)/\(key)"
        case .checkValue(let key, let archive, _): "check value \(archive)/\(key)"
        case .collect: "collect all rows"
        case .delete(_, let targets, let archive, _): "delete \(targets.count) of \(archive)"
        case .stop: "stop"
        case .quit: "quit"
        case .startDemo: "start demo"
        }
    }
}
