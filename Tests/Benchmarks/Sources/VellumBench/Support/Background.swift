import Dispatch
import Foundation
import Synchronization

/// Work that a separate thread repeats until ``end()``.
final class Background: Sendable {
    private let isOver = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)
    private let outcome = Mutex<(rounds: Int, failure: (any Error)?)>((0, nil))

    /// `body` gets the number of the round, starting at 0.
    init(repeating body: @escaping @Sendable (_ round: Int) throws -> Void) {
        Thread.detachNewThread { [self] in
            var round = 0
            do {
                while !isOver.load(ordering: .relaxed) {
                    try body(round)
                    round += 1
                }
                outcome.withLock { $0 = (round, nil) }
            } catch {
                outcome.withLock { $0 = (round, error) }
            }
            ended.signal()
        }
    }

    /// Waits for the end of the present round; throws the error of any round.
    /// - Returns: the number of rounds.
    func end() throws -> Int {
        isOver.store(true, ordering: .relaxed)
        ended.wait()
        let (rounds, failure) = outcome.withLock { $0 }
        if let failure { throw failure }
        return rounds
    }
}
