import BrowserCore
import StorageEngine
import TerminalKit
import Testing

/// Sends messages to a model and expects exactly these effects. Tests perform effects explicitly, so they can act between a
/// request and its response.
struct UpdateTest {
    private(set) var model: Model
    var effects: [Effect] = []

    init(_ model: Model) {
        self.model = model
        effects = Browser.start(&self.model)
    }

    /// The state after these keys, with the effects of each performed.
    init(_ model: Model, _ source: some StoreSource, keys: String) throws {
        self.init(model)
        settle(source)
        try press(keys, source)
    }

    /// Presses the keys of a script, and performs the effects of each.
    mutating func press(_ script: String, _ source: some StoreSource) throws {
        for key in try Key.script(script) { _ = press(key, source) }
    }

    /// Sends a message, and expects these effects in order.
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

    /// Presses a key, performs its effects unless `settling` is false, and returns them.
    mutating func press(_ key: Key, _ source: some StoreSource, settling: Bool = true) -> [Effect] {
        effects = Browser.update(&model, .input(.key(key)))
        let asked = effects
        if settling { settle(source) }
        return asked
    }

    /// Refreshes, and performs the effects.
    mutating func refresh(_ source: some StoreSource, at now: Timestamp) {
        effects = Browser.update(&model, .tick(now))
        settle(source)
    }

    /// Performs these effects and those of their responses, until none is left.
    mutating func settle(_ effects: [Effect], _ source: some StoreSource) {
        self.effects = effects
        settle(source)
    }
    /// Performs the last effects and those of their responses, until none is left.
    mutating func settle(_ source: some StoreSource) {
        var queue = effects
        effects = []
        while !queue.isEmpty {
            let effect = queue.removeFirst()
            for message in answers(to: effect, source) { queue += Browser.update(&model, message) }
        }
    }

    /// Applies the responses of an effect, and returns the effects that follow.
    mutating func answer(_ effect: Effect, _ source: some StoreSource) -> [Effect] {
        effects = []
        for message in answers(to: effect, source) { effects += Browser.update(&model, message) }
        return effects
    }

    /// The responses of an effect, which may have been stopped.
    func answers(to effect: Effect, _ source: some StoreSource, isStopped: Bool = false) -> [Message] {
        let now = model.now
        var messages: [Message] = []
        EffectPerformer(source: source, clock: { now })
            .perform(effect, isStopped: { isStopped }, send: { messages.append($0) })
        return messages
    }

    var text: String { Browser.frame(model).plainText }
}
