import Foundation

/// The long forms of tests, which `make soak DURATION=…` runs.
package enum Soak {
    private static let environment = ProcessInfo.processInfo.environment

    /// The time for the whole run; 0 in an ordinary one.
    package static let seconds = Double(environment["VELLUM_SOAK_SECONDS"] ?? "") ?? 0

    /// The seed of a long run: a new one each time, or `VELLUM_SEED`.
    package static let seed = UInt64(environment["VELLUM_SEED"] ?? "") ?? UInt64.random(in: 0...UInt64.max)

    /// Returns the end of a long test with this share of the run.
    package static func end(share: Double) -> Date { Date().addingTimeInterval(seconds * share) }

    fileprivate static let report = environment["VELLUM_SOAK_REPORT"]
}

/// One line with a test's measurements, in the same format for all tests: `R1 storm: kills 200, lost 0, slowest open
/// 12 ms`.
package struct Figures {
    private let title: String
    private var parts: [String] = []

    package init(_ title: String) { self.title = title }

    /// A count is an `Int`, nanoseconds are a `UInt64`, and a ratio is a `Double`; any other value is text.
    package init(_ title: String, _ figures: KeyValuePairs<String, any Sendable>) {
        self.title = title
        for (name, value) in figures {
            switch value {
            case let count as Int: add(name, count)
            case let time as UInt64: add(name, nanoseconds: time)
            case let ratio as Double: add(name, ratio: ratio)
            default: add(name, text: "\(value)")
            }
        }
    }

    package mutating func add(_ name: String, _ count: Int) {
        parts.append("\(name) \(Figures.grouped(count))")
    }

    package mutating func add(_ name: String, nanoseconds: UInt64) {
        let value = Double(nanoseconds)
        switch nanoseconds {
        case 10_000_000...: parts.append("\(name) \(Int(value / 1e6)) ms")
        case 10_000...: parts.append("\(name) \(Int(value / 1e3)) µs")
        default: parts.append("\(name) \(nanoseconds) ns")
        }
    }

    /// A fraction with three decimals.
    package mutating func add(_ name: String, ratio: Double) {
        parts.append(name + " " + String(format: "%.3f", ratio))
    }

    package mutating func add(_ name: String, text: String) { parts.append("\(name) \(text)") }

    package var line: String { title + ": " + parts.joined(separator: ", ") }

    /// Prints the line, and appends it to the file that VELLUM_SOAK_REPORT names.
    package func report() {
        print(line)
        guard let path = Soak.report else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else { return }
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }

    private static func grouped(_ count: Int) -> String {
        var digits = String(count.magnitude)[...]
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.insert(digits.suffix(3), at: 0)
            digits = digits.dropLast(3)
        }
        groups.insert(digits, at: 0)
        return (count < 0 ? "-" : "") + groups.joined(separator: ",")
    }
}

/// Nanoseconds of a clock that all processes share.
package func monotonicNow() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// The durations of calls.
package struct Timings {
    package private(set) var values: [UInt64] = []

    package init() {}

    package mutating func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
        let start = monotonicNow()
        defer { values.append(monotonicNow() - start) }
        return try body()
    }

    package mutating func note(_ nanoseconds: UInt64) { values.append(nanoseconds) }

    package var slowest: UInt64 { values.max() ?? 0 }

    package func count(above nanoseconds: UInt64) -> Int { values.count { $0 > nanoseconds } }

    /// The value that this share of the durations doesn't exceed.
    package func percentile(_ share: Double) -> UInt64 {
        guard !values.isEmpty else { return 0 }
        return values.sorted()[min(values.count - 1, Int(Double(values.count) * share))]
    }
}
