/// One operation on one key, or on several at one instant, as a process saw it.
struct HistoryOperation {
    enum Kind: Equatable {
        case put(UInt64)
        case delete(wasThere: Bool)
        /// 0: absent.
        case read(UInt64)
    }

    struct Part {
        /// Below ``LinearizabilityChecker/mostKeys``.
        var key: Int
        var kind: Kind
    }

    var parts: [Part]
    var start: UInt64
    var end: UInt64
    /// Number of the process, for messages and comparisons.
    var process: Int

    init(_ parts: [Part], start: UInt64, end: UInt64, process: Int) {
        self.parts = parts
        self.start = start
        self.end = end
        self.process = process
    }

    init(kind: Kind, start: UInt64, end: UInt64, process: Int) {
        self.init([Part(key: 0, kind: kind)], start: start, end: end, process: process)
    }

    /// A bit for each of its keys.
    var keys: UInt8 { parts.reduce(0) { $0 | 1 << UInt8($1.key) } }
}

/// Decides whether a history can be explained by operations that each took effect at one instant between their start
/// and end, on all of their keys. Exact, for registers with put, delete and read.
///
/// Processes events in the order of time, with the set of all possible configurations: the running operations that have
/// taken effect, and the values (J. M. Wing, C. Gong: "Testing and Verifying Concurrent Objects", 1993; cutting at
/// returns after G. Lowe: "Testing for Linearizability", 2017). The time is linear in the length for a bounded number
/// of concurrent operations.
struct LinearizabilityChecker {
    private struct Configuration: Hashable {
        /// Bits of the running operations that have taken effect.
        var effective: UInt64
        /// Values by key; 0: absent.
        var values: SIMD8<UInt64>

        /// A combined hash, which takes a tenth of the time.
        func hash(into hasher: inout Hasher) {
            var mixed = effective
            for key in 0..<LinearizabilityChecker.mostKeys {
                mixed = (mixed ^ values[key]) &* 0x9E37_79B9_7F4A_7C15
            }
            hasher.combine(mixed)
        }
    }

    static let mostKeys = 8

    /// Most operations that may run at the same time.
    static let mostConcurrent = 64

    /// Returns `nil` if the history is linearizable from an empty state, else the unexplained operation.
    static func violation(in operations: [HistoryOperation]) -> String? {
        struct Event {
            var time: UInt64
            var isEnd: Bool
            var operation: Int
        }
        var events: [Event] = []
        for (number, operation) in operations.enumerated() {
            events.append(Event(time: operation.start, isEnd: false, operation: number))
            events.append(Event(time: operation.end, isEnd: true, operation: number))
        }
        // Starts before ends of the same nanosecond, so that these operations count as concurrent.
        events.sort { ($0.time, $0.isEnd ? 1 : 0) < ($1.time, $1.isEnd ? 1 : 0) }
        var running: [Int?] = Array(repeating: nil, count: mostConcurrent)
        var places: [Int: Int] = [:]
        var possible: Set<Configuration> = [Configuration(effective: 0, values: .zero)]
        for event in events {
            if !event.isEnd {
                guard let place = running.firstIndex(of: nil) else {
                    return "more than 64 operations at once"
                }
                running[place] = event.operation
                places[event.operation] = place
                continue
            }
            guard let place = places.removeValue(forKey: event.operation) else {
                return "an end without a start"
            }
            let bit = UInt64(1) << UInt64(place)
            // All orders in which running operations take effect until this one has. Those without common keys,
            // directly or through others, may take effect later.
            let concerned = concerned(with: event.operation, running, operations)
            var waiting = Array(possible)
            var seen = possible
            var after: Set<Configuration> = []
            while let configuration = waiting.popLast() {
                if configuration.effective & bit != 0 {
                    after.insert(
                        Configuration(
                            effective: configuration.effective & ~bit, values: configuration.values))
                    continue
                }
                for (other, number) in running.enumerated() {
                    let otherBit = UInt64(1) << UInt64(other)
                    guard let number, concerned & otherBit != 0, configuration.effective & otherBit == 0,
                        let values = apply(operations[number], to: configuration.values)
                    else { continue }
                    let next = Configuration(effective: configuration.effective | otherBit, values: values)
                    if seen.insert(next).inserted { waiting.append(next) }
                }
            }
            running[place] = nil
            guard !after.isEmpty else {
                let operation = operations[event.operation]
                return
                    "\(operation.parts) of process \(operation.process) from \(operation.start) to \(operation.end); "
                    + "possible before: \(Set(possible.map(\.values)))"
            }
            possible = after
        }
        return nil
    }

    /// Bits of the running operations that have keys in common with this one, directly or through others.
    private static func concerned(
        with operation: Int, _ running: [Int?], _ operations: [HistoryOperation]
    ) -> UInt64 {
        var keys = operations[operation].keys
        var found: UInt64 = 0
        while true {
            let before = found
            for (place, number) in running.enumerated() {
                guard let number, operations[number].keys & keys != 0 else { continue }
                found |= 1 << UInt64(place)
                keys |= operations[number].keys
            }
            if found == before { return found }
        }
    }

    /// Values after the operation; `nil` if this result is impossible.
    private static func apply(_ operation: HistoryOperation, to values: SIMD8<UInt64>) -> SIMD8<UInt64>? {
        var values = values
        for part in operation.parts {
            switch part.kind {
            case .put(let new): values[part.key] = new
            case .delete(let wasThere):
                guard wasThere == (values[part.key] != 0) else { return nil }
                values[part.key] = 0
            case .read(let read): guard read == values[part.key] else { return nil }
            }
        }
        return values
    }
}
