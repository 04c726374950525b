import StorageEngine
import StoreInspection
import TerminalKit

package enum Effect: Sendable {
    case question(Question)
    /// Stops the request with that ticket. Its response still arrives and may be partial.
    case stop(ticket: Int)
    case end(BrowserExit)
    /// Sends an escape sequence that sets the terminal's clipboard.
    case send([UInt8])
    case captureMouse(Bool)
    /// Runs a program on the terminal and waits for its end.
    case program(TerminalProgram)
}

package enum BrowserExit: Sendable, Hashable {
    case quit
    case startDemo
}

/// A read or a confirmed change of a store, together with the update that its response causes.
package struct Question: Sendable {
    /// One line, for tests and traces.
    package let description: String
    /// Identifies long work, which reports progress and can be stopped.
    package let ticket: Int?
    /// Number and path of the open store.
    fileprivate(set) var workspace = 0
    fileprivate(set) var store: String?
    /// Whether it pauses between reads and therefore runs on a separate queue.
    fileprivate(set) var waits = false
    let answer: @Sendable (QuestionContext) -> Answer
}

/// Not thread-safe.
struct QuestionContext {
    let source: any StoreSource
    let sources: OpenSources
    let clock: @Sendable () -> Timestamp
    /// Waits for that number of seconds.
    let pause: (Double) -> Void
    /// Reports the completed share, 0 to 1. Returns false if the work must stop.
    let progress: (Double) -> Bool
    /// Whether the work must stop; reports no progress.
    let isStopped: () -> Bool

    /// An output file whose writing ends when the work is stopped.
    func output(_ path: String, replaces: Bool) -> OutputFile {
        OutputFile(path: path, replaces: replaces, isStopped: isStopped)
    }

    /// The result of `body`; nil if it failed because it was stopped.
    func unlessStopped<Result>(
        _ body: () throws(SourceError) -> Result?
    ) throws(SourceError) -> Result? {
        do throws(SourceError) { return try body() } catch {
            if isStopped() { return nil }
            throw error
        }
    }
}

/// The update that a response causes. The model may have changed since the request.
package struct Answer: Sendable {
    /// Nil: the current store.
    var workspace: Int?
    let apply: @Sendable (inout Model) -> [Effect]
}

extension Effect {
    /// Requests data or a change from a store. `read` runs off the drawing thread; `then` applies the result to the model.
    static func ask<Found: Sendable>(
        _ description: String, ticket: Int? = nil,
        _ read: @escaping @Sendable (QuestionContext) throws(SourceError) -> Found,
        then: @escaping @Sendable (inout Model, Result<Found, SourceError>) -> [Effect]
    ) -> Effect {
        .question(
            Question(description: description, ticket: ticket) { context in
                let result = Result { () throws(SourceError) in try read(context) }
                return Answer { model in then(&model, result) }
            })
    }

    /// The same with an update that has no further effects.
    static func ask<Found: Sendable>(
        _ description: String, ticket: Int? = nil,
        _ read: @escaping @Sendable (QuestionContext) throws(SourceError) -> Found,
        done: @escaping @Sendable (inout Model, Result<Found, SourceError>) -> Void = { _, _ in }
    ) -> Effect {
        .ask(description, ticket: ticket, read) { model, result in
            done(&model, result)
            return []
        }
    }

    private func with(_ change: (inout Question) -> Void) -> Effect {
        guard case .question(var question) = self else { return self }
        change(&question)
        return .question(question)
    }

    /// The same effect for an open store, unless it already has one.
    func of(_ workspace: Int, _ store: String?) -> Effect {
        with { question in
            guard question.workspace == 0 else { return }
            question.workspace = workspace
            question.store = question.store ?? store
        }
    }

    /// The same effect on another store's queues, because a server may not answer.
    func on(_ store: String) -> Effect { with { $0.store = store } }

    /// The same effect on the queue for effects that pause between reads.
    var waiting: Effect { with { $0.waits = true } }

    package var ticket: Int? { if case .question(let question) = self { question.ticket } else { nil } }
}

extension [Effect] {
    static func ask<Found: Sendable>(
        _ description: String, ticket: Int? = nil,
        _ read: @escaping @Sendable (QuestionContext) throws(SourceError) -> Found,
        then: @escaping @Sendable (inout Model, Result<Found, SourceError>) -> [Effect]
    ) -> [Effect] { [Effect.ask(description, ticket: ticket, read, then: then)] }

    static func ask<Found: Sendable>(
        _ description: String, ticket: Int? = nil,
        _ read: @escaping @Sendable (QuestionContext) throws(SourceError) -> Found,
        done: @escaping @Sendable (inout Model, Result<Found, SourceError>) -> Void
    ) -> [Effect] { [Effect.ask(description, ticket: ticket, read, done: done)] }
}

extension Effect: CustomStringConvertible {
    package var description: String {
        switch self {
        case .question(let question): question.description
        case .stop: "stop"
        case .end(let exit): "\(exit)"
        case .send(let bytes): "send \(bytes.count) bytes"
        case .captureMouse(let isOn): isOn ? "capture mouse" : "release mouse"
        case .program(let program): program.description
        }
    }
}

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
