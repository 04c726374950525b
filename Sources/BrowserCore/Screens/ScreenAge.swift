import StorageEngine

/// Of what moment a screen is that isn't kept up to date. A value.
struct ScreenAge: Sendable, Hashable {
    /// What was done then.
    enum Verb: String, Sendable { case asked, listed, read }

    let verb: Verb
    /// How long ago; never negative.
    let seconds: Double

    init(_ verb: Verb, since moment: Timestamp, at now: Timestamp) {
        self.verb = verb
        seconds = max(0, now.seconds(since: moment))
    }
}
