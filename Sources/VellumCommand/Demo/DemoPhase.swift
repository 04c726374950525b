/// A phase of the workload. The phases repeat, so that graphs over minutes show their effects on a cache.
enum DemoPhase: CaseIterable, Sendable {
    case steady, scan, calm, burst, recovery, tight

    /// Nil: until the scan is complete.
    var seconds: Double? {
        switch self {
        case .steady, .calm, .recovery, .tight: 20
        case .scan: nil
        case .burst: 10
        }
    }

    /// Factor of the requested rate.
    var haste: Int {
        switch self {
        case .scan: 3
        case .burst: 5
        default: 1
        }
    }

    /// The log's message at the beginning; nil: none.
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
