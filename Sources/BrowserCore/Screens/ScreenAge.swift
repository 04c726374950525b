import StorageEngine

struct ScreenAge: Sendable, Hashable {
    enum Verb: String, Sendable { case updated, read }

    let verb: Verb
    let moment: Timestamp
    /// Never negative.
    let seconds: Double

    init(_ verb: Verb, since moment: Timestamp, at now: Timestamp) {
        (self.verb, self.moment) = (verb, moment)
        seconds = max(0, now.seconds(since: moment))
    }
}
