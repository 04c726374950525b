/// Sendable value type. What the workload is like for a while. The phases follow each other again and again, so that graphs
/// over minutes show what each does to a cache.
enum DemoPhase: CaseIterable, Sendable {
    case steady, scan, calm, burst, recovery, tight

    /// Nil: until it is done.
    var seconds: Double? {
        switch self {
        case .steady, .calm, .recovery: 20
        case .scan: nil
        case .burst: 10
        case .tight: 20
        }
    }

    /// By how much its rate is higher than the one that was asked for.
    var haste: Int {
        switch self {
        case .scan: 3
        case .burst: 5
        default: 1
        }
    }

    /// What the log says when it begins; nil: nothing.
    var announcement: String? {
        switch self {
        case .steady: nil
        case .scan: "scan: every city is read once, most of them never again"
        case .calm: "scan done"
        case .burst: "burst: five times as many users"
        case .recovery: "burst over"
        case .tight: "the cache of cities gets a third of its room"
        }
    }

    var next: DemoPhase {
        let all = Self.allCases
        return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
    }
}
