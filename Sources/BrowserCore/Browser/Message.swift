import StorageEngine
import TerminalKit

/// What happened. A value; safe to share between threads.
package enum Message: Sendable {
    /// It is that time now; nothing is refreshed.
    case clock(Timestamp)
    /// It is that time now, and time for a refresh.
    case tick(Timestamp)
    case input(InputEvent)
    /// How far long work is, 0 to 1.
    case progress(ticket: Int, Double)
    case answer(Answer)
}
