/// Two places between which the log was longer than it is, all of that stretch or parts of it.
struct LogLoss: Equatable {
    private(set) var from: Location
    private(set) var to: Location

    /// `nil` where this is no stretch: a damaged index may say anything.
    init?(from: Location, to: Location) {
        guard from.segment > 0, from < to else { return nil }
        self.from = from
        self.to = to
    }

    /// The shortest stretch that covers both.
    static func joining(_ one: LogLoss?, _ other: LogLoss?) -> LogLoss? {
        guard let one, let other else { return one ?? other }
        return LogLoss(from: min(one.from, other.from), to: max(one.to, other.to))
    }

    /// A line about it, of the archive in `folder`.
    func description(in folder: OpenFile) -> String {
        "\(folder.path): the log is missing from byte \(from.offset) of \(SegmentHeader.fileName(from.segment)) to "
            + "byte \(to.offset) of \(SegmentHeader.fileName(to.segment)), or parts of that; what was stored there "
            + "last is lost"
    }
}
