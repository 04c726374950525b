/// A phase of the workload. The phases repeat, so that graphs over minutes show their effects on a cache.
enum DemoPhase: Int, Sendable {
    case steady, scan, calm, burst, recovery, tight

    /// Duration in seconds (nil: until the scan is complete), factor of the requested rate, and message of its beginning.
    private typealias Facts = (seconds: Double?, haste: Int, announcement: String?)
    private static let facts: [Facts] = [
        (20, 1, nil),
        (nil, 3, "scan: every city is read once, most of them never again"),
        (20, 1, "scan done"),
        (10, 5, "burst: five times as many users"),
        (20, 1, "burst over"),
        (20, 1, "the limit of the city cache drops to a third"),
    ]

    var seconds: Double? { Self.facts[rawValue].seconds }
    var haste: Int { Self.facts[rawValue].haste }
    var announcement: String? { Self.facts[rawValue].announcement }
    var next: DemoPhase { DemoPhase(rawValue: rawValue + 1) ?? .steady }
}
