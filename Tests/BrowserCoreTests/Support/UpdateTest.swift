import BrowserCore
import StorageEngine
import TerminalKit
import Testing

/// Sends messages to a model and requires that exactly the expected effects come back. What the effects ask for is
/// done when the test says so, so that what happens between a question and its answer can be tested.
struct UpdateTest {
    private(set) var model: Model
    var effects: [Effect] = []

    init(_ model: Model) {
        self.model = model
        effects = Browser.start(&self.model)
    }

    /// What is shown after these keys, each of which had what it asked for.
    init(_ model: Model, _ source: some StoreSource, keys: String) throws {
        self.init(model)
        settle(source)
        for key in try Key.script(keys) { _ = press(key, source) }
    }

    /// Sends a message. The effects must be the expected ones, in order; any other fails the test here.
    mutating func send(
        _ message: Message, expecting expected: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        effects = Browser.update(&model, message)
        #expect(effects.map(\.description) == expected, sourceLocation: sourceLocation)
    }

    mutating func press(
        _ key: Key, expecting expected: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        send(.input(.key(key)), expecting: expected, sourceLocation: sourceLocation)
    }

    /// Presses a key; what it asks for is done at once, unless the test does it later.
    mutating func press(_ key: Key, _ source: some StoreSource, settling: Bool = true) -> [Effect] {
        effects = Browser.update(&model, .input(.key(key)))
        let asked = effects
        if settling { settle(source) }
        return asked
    }

    /// Refreshes, and does what that asks for.
    mutating func refresh(_ source: some StoreSource, at now: Timestamp) {
        effects = Browser.update(&model, .tick(now))
        settle(source)
    }

    /// Does what the last effects ask for, and what the answers ask for, until nothing is left.
    mutating func settle(_ source: some StoreSource) {
        var queue = effects
        effects = []
        while !queue.isEmpty {
            let effect = queue.removeFirst()
            for message in answers(to: effect, source) { queue += Browser.update(&model, message) }
        }
    }

    /// Takes what an effect has to say into the model; what that asks for then.
    mutating func answer(_ effect: Effect, _ source: some StoreSource) -> [Effect] {
        effects = []
        for message in answers(to: effect, source) { effects += Browser.update(&model, message) }
        return effects
    }

    /// What an effect has to say; long work may have been stopped by then.
    func answers(to effect: Effect, _ source: some StoreSource, isStopped: Bool = false) -> [Message] {
        let now = model.now
        var messages: [Message] = []
        EffectPerformer(source: source, clock: { now })
            .perform(effect, isStopped: { isStopped }, send: { messages.append($0) })
        return messages
    }

    var text: String { Browser.frame(model).plainText }
}
