import StorageEngine
import StoreInspection

/// What the model wants done outside of itself. A value; safe to share between threads.
package enum Effect: Sendable {
    case question(Question)
    /// Stops the question with that ticket; nothing is heard of it any more.
    case stop(ticket: Int)
    case quit
    case startDemo
    /// Sends the terminal what it obeys: a sequence that fills its clipboard.
    case send([UInt8])
    /// Lets the mouse be the browser's, or the terminal's, which selects text with it.
    case captureMouse(Bool)
    /// Gives the terminal to a program until that ends.
    case program(TerminalProgram)
}

/// Something to read in a store, or to change there once a person confirmed it, with what its answer does to the model. The
/// screen that asks says both in one place. A value; safe to share between threads.
package struct Question: Sendable {
    /// One line, for tests and for traces.
    package let description: String
    /// Of long work: it shows its progress under this number, and can be stopped.
    package let ticket: Int?
    /// The store that it is about: its number among those that are open.
    fileprivate(set) var workspace = 0
    let answer: @Sendable (QuestionContext) -> Answer
}

/// What a question is answered with. For one thread.
struct QuestionContext {
    let source: any StoreSource
    let clock: @Sendable () -> Timestamp
    /// Takes the share that is done, 0 to 1, and says whether to go on.
    let progress: (Double) -> Bool
}

/// What a store's answer does to the model, which may have moved on since it asked. A value; safe to share between threads.
package struct Answer: Sendable {
    /// Nil: the store that is shown.
    var workspace: Int?
    let apply: @Sendable (inout Model) -> [Effect]
}

extension Effect {
    /// Asks a store. `read` runs off the drawing thread; `then` takes what came of it into the model.
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

    /// The same, asked for a store that is open, unless it was for another already.
    func of(_ workspace: Int) -> Effect {
        guard case .question(var question) = self, question.workspace == 0 else { return self }
        question.workspace = workspace
        return .question(question)
    }

    package var ticket: Int? { if case .question(let question) = self { question.ticket } else { nil } }
}

extension [Effect] {
    static func ask<Found: Sendable>(
        _ description: String, ticket: Int? = nil,
        _ read: @escaping @Sendable (QuestionContext) throws(SourceError) -> Found,
        then: @escaping @Sendable (inout Model, Result<Found, SourceError>) -> [Effect]
    ) -> [Effect] { [Effect.ask(description, ticket: ticket, read, then: then)] }
}

extension Effect: CustomStringConvertible {
    package var description: String {
        switch self {
        case .question(let question): question.description
        case .stop: "stop"
        case .quit: "quit"
        case .startDemo: "start demo"
        case .send(let bytes): "send \(bytes.count) bytes"
        case .captureMouse(let isOn): isOn ? "capture mouse" : "release mouse"
        case .program(let program): program.description
        }
    }
}
