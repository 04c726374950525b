import StorageEngine
import TerminalKit

package enum Message: Sendable {
    /// The current time; no refresh.
    case clock(Timestamp)
    /// The current time, with a refresh.
    case tick(Timestamp)
    case input(InputEvent)
    /// Completed share of long work, 0 to 1.
    case progress(ticket: Int, Double)
    case answer(Answer)
}
