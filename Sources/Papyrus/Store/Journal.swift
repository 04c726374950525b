import Logging
import StorageEngine

/// The log of a store, through swift-log. Shared by the copies of a store.
final class Journal: Sendable {
    private let guarded = Guarded(LogLevel.error)

    var logLevel: LogLevel {
        get { guarded.withLock { $0 } }
        set { guarded.withLock { $0 = newValue } }
    }

    func info(_ message: @autoclosure () -> String) {
        guard logLevel <= .info else { return }
        write(message(), .info)
    }

    func error(_ operation: String, _ reason: any Error) {
        let urgency: LogLevel = Journal.isOfStore(reason) ? .fault : .error
        guard urgency >= logLevel else { return }
        write("cannot \(operation): \(reason)", urgency)
    }

    private static func isOfStore(_ error: any Error) -> Bool {
        switch error as? StorageError {
        case .notAStore, .ownedByAnotherUser, .permissionDenied, .notPrivate, .unsupportedVersion: true
        default: false
        }
    }

    private func write(_ message: String, _ level: LogLevel) {
        // Created for each message, so that the program's logging configuration applies.
        var logger = Logger(label: "papyrus")
        logger.logLevel = .trace
        logger.log(
            level: level >= .fault ? .critical : level == .error ? .error : .info, "papyrus: \(message)")
    }
}
