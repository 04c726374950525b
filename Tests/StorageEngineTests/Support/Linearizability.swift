/// One operation on one key, as a process saw it.
struct HistoryOperation {
    enum Kind: Equatable {
        case put(UInt64)
        case delete(wasThere: Bool)
        /// 0: nothing was there.
        case read(UInt64)
    }

    var kind: Kind
    var start: UInt64
    var end: UInt64
    /// Who did it; for messages and for telling processes apart.
    var process: Int
}

/// Whether one key's history can be explained by operations that each took effect at one instant between their
/// start and their end: exact, for a register with put, delete and read.
///
/// The events are gone through in the order of time with the set of all configurations that are still possible:
/// which of the running operations have taken effect, and the value (J. M. Wing, C. Gong: "Testing and Verifying
/// Concurrent Objects", 1993; cutting at returns after G. Lowe: "Testing for Linearizability", 2017). Costs
/// time in proportion to the length for a bounded number of operations at the same time.
struct LinearizabilityChecker {
    private struct Configuration: Hashable {
        /// Bits of the running operations that have taken effect.
        var effective: UInt64
        /// 0: none.
        var value: UInt64
    }

    /// Most operations that may run at the same time.
    static let mostConcurrent = 64

    /// `nil` when the history is linearizable from no value; else what cannot be explained.
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
        // At the same nanosecond starts come first, so that such operations count as concurrent.
        events.sort { ($0.time, $0.isEnd ? 1 : 0) < ($1.time, $1.isEnd ? 1 : 0) }
        var running: [Int?] = Array(repeating: nil, count: mostConcurrent)
        var places: [Int: Int] = [:]
        var possible: Set<Configuration> = [Configuration(effective: 0, value: 0)]
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
            // All ways in which running operations take effect until this one has.
            var waiting = Array(possible)
            var seen = possible
            var after: Set<Configuration> = []
            while let configuration = waiting.popLast() {
                if configuration.effective & bit != 0 {
                    after.insert(
                        Configuration(effective: configuration.effective & ~bit, value: configuration.value))
                    continue
                }
                for (other, number) in running.enumerated() {
                    let otherBit = UInt64(1) << UInt64(other)
                    guard let number, configuration.effective & otherBit == 0,
                        let value = apply(operations[number].kind, to: configuration.value)
                    else { continue }
                    let next = Configuration(effective: configuration.effective | otherBit, value: value)
                    if seen.insert(next).inserted { waiting.append(next) }
                }
            }
            running[place] = nil
            guard !after.isEmpty else {
                let operation = operations[event.operation]
                return
                    "\(operation.kind) of process \(operation.process) from \(operation.start) to \(operation.end); "
                    + "possible before: \(Set(possible.map(\.value)).sorted())"
            }
            possible = after
        }
        return nil
    }

    /// The value after the operation, or `nil` when it cannot have had this result then.
    private static func apply(_ kind: HistoryOperation.Kind, to value: UInt64) -> UInt64? {
        switch kind {
        case .put(let new): new
        case .delete(let wasThere): wasThere == (value != 0) ? 0 : nil
        case .read(let read): read == value ? value : nil
        }
    }
}
