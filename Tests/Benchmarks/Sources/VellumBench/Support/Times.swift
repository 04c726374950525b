/// Durations recorded by a thread; read after it has ended.
final class Times: @unchecked Sendable {
    private var values = Latencies(capacity: 100_000)

    func add(_ nanoseconds: UInt64) { values.add(nanoseconds) }

    var median: UInt32 { share(0.5) }

    /// The quantile of a share from 0 to 1.
    func share(_ share: Double) -> UInt32 {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}
