import StorageEngine
import StoreInspection
import TerminalKit

/// The browser without a terminal. Completes all work of a key before the next one and never refreshes automatically, so that
/// frames depend only on the keys and the store. Not thread-safe.
package struct HeadlessBrowser: Sendable {
    package private(set) var model: Model
    package private(set) var exit: BrowserExit?
    package private(set) var sent: [[UInt8]] = []
    private let programs: @Sendable (TerminalProgram) -> Result<Int32, SourceError>
    private let performer: EffectPerformer
    private let clock: @Sendable () -> Timestamp
    private let trace: (@Sendable (Effect) -> Void)?

    package init(
        _ model: Model, source: any StoreSource, clock: @escaping @Sendable () -> Timestamp,
        trace: (@Sendable (Effect) -> Void)? = nil,
        programs: @escaping @Sendable (TerminalProgram) -> Result<Int32, SourceError> = { _ in
            .failure(SourceError("no terminal"))
        }
    ) {
        self.programs = programs
        self.model = model
        self.clock = clock
        self.trace = trace
        performer = EffectPerformer(source: source, clock: clock)
        self.model.now = clock()
        carryOut(Browser.start(&self.model))
    }

    /// Presses keys, each after all work of the previous one.
    package mutating func press(_ keys: [Key]) {
        for key in keys { send(.input(.key(key))) }
    }

    package mutating func refresh() {
        guard exit == nil else { return }
        settle(.tick(clock()))
    }

    package mutating func send(_ message: Message) {
        guard exit == nil else { return }
        settle(.clock(clock()))
        settle(message)
    }

    package var frame: Frame { Browser.frame(model) }

    private mutating func settle(_ message: Message) { carryOut(Browser.update(&model, message)) }

    private mutating func carryOut(_ effects: [Effect]) {
        var queue = effects[...]
        while let effect = queue.popFirst() {
            trace?(effect)
            switch effect {
            case .end(let exit): self.exit = exit
            case .send(let bytes): sent.append(bytes)
            case .captureMouse: break
            case .program(let program): queue += Browser.update(&model, program.message(programs(program)))
            default: break
            }
            let inbox = Inbox()
            performer.perform(effect, isStopped: { false }, send: { inbox.add($0) })
            for message in inbox.take() { queue += Browser.update(&model, message) }
        }
    }
}
