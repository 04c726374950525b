import StorageEngine
import TestSupport

/// Allowed values of the keys of a worker that prints its changes: the last acknowledged one of each, or the one in
/// progress when the worker was killed. Its lines:
///
/// `> KEY VERSION SIZE`, or `> KEY delete 0`: begins a change; `*` stands for every key. `= KEY VERSION SIZE` lines
/// followed by `> @ whole|each 0`: changes made together, or one after the other. Two further numbers: the value
/// expires between these times, in nanoseconds of the clock that all processes share; if the second is 0, the end
/// depends on the duration of the call. `<` or `< NANOSECONDS`: acknowledged, after this time. `x`: nothing was
/// changed. `? …`: a remark.
struct Acknowledged {
    /// A value as its worker writes it.
    private struct Value {
        var version: UInt64
        var size: Int
        /// Range of the expiry time, which is kept in microseconds, while clocks are read one after another.
        var earliestEnd = UInt64.max
        var latestEnd = UInt64.max

        private static let tolerance: UInt64 = 2_000_000

        func equals(_ bytes: [UInt8]) -> Bool {
            bytes.count == size + 8
                && bytes.starts(with: withUnsafeBytes(of: version.littleEndian) { Array($0) })
                && bytes[8...].allSatisfy { [low = UInt8(truncatingIfNeeded: version)] in $0 == low }
        }

        func allows(_ look: Look) -> Bool {
            guard let bytes = look.found else {
                return look.end >= earliestEnd &- min(earliestEnd, Self.tolerance)
            }
            return equals(bytes) && look.start &- Self.tolerance <= latestEnd
        }
    }

    /// Value of a key, and the time of the read.
    private struct Look {
        var found: [UInt8]?
        var start: UInt64
        var end: UInt64
    }

    private struct Operation {
        /// No value: the key is deleted.
        var changes: [String: Value?] = [:]
        var isWhole = true
    }

    /// Numbers of unexpected results.
    struct Findings {
        var lost = 0
        var deletedBack = 0
        var corrupt = 0
        /// Atomic changes that were found in part.
        var torn = 0
        var first: String?

        var isEmpty: Bool { lost + deletedBack + corrupt + torn == 0 }

        static func += (sum: inout Findings, more: Findings) {
            sum.lost += more.lost
            sum.deletedBack += more.deletedBack
            sum.corrupt += more.corrupt
            sum.torn += more.torn
            sum.first = sum.first ?? more.first
        }
    }

    /// Allowed values of each key.
    private var expected: [String: [Value?]] = [:]
    /// Changes in progress when the worker was killed that aren't verified yet, with the values before them.
    private var undecided: [(after: [String: Value?], before: [String: [Value?]])] = []
    /// Latest lines about each key, for diagnosis.
    private var said: [String: [String]] = [:]
    private(set) var operations = 0
    /// Number of operations with several keys.
    private(set) var batches = 0

    // MARK: Replay

    /// Reads the output of one run and returns the number of acknowledged operations.
    @discardableResult
    mutating func replay(_ lines: [String]) -> Int {
        var acknowledged = 0
        var pending: Operation?
        var together: [String: Value?] = [:]
        for line in lines {
            let words = line.split(separator: " ")
            switch words.first {
            case "<":
                guard let operation = pending else { continue }
                note(line, of: operation)
                acknowledge(operation, after: words.count > 1 ? UInt64(words[1]) ?? 0 : 0)
                acknowledged += 1
                pending = nil
            case "x":
                if let pending { note(line, of: pending) }
                pending = nil
            case "=" where words.count >= 4: together[String(words[1])] = .some(Self.value(words))
            case ">" where words.count >= 4:
                pending = operation(words, &together)
                if let pending { note(line, of: pending) }
            case "?" where words.count >= 2: note(line, of: Operation(changes: [String(words[1]): nil]))
            default: break
            }
        }
        if let pending { interrupt(pending) }
        operations += acknowledged
        return acknowledged
    }

    private func operation(_ words: [Substring], _ together: inout [String: Value?]) -> Operation {
        defer { together = [:] }
        switch words[1] {
        case "@": return Operation(changes: together, isWhole: words[2] == "whole")
        case "*": return Operation(changes: expected.mapValues { _ in nil })
        default: return Operation(changes: [String(words[1]): Self.value(words)])
        }
    }

    private static func value(_ words: [Substring]) -> Value? {
        guard let version = UInt64(words[2]), let size = Int(words[3]) else { return nil }
        var value = Value(version: version, size: size)
        guard words.count == 6, let earliest = UInt64(words[4]), let latest = UInt64(words[5]), earliest > 0
        else { return value }
        (value.earliestEnd, value.latestEnd) = (earliest, latest)
        return value
    }

    private mutating func acknowledge(_ operation: Operation, after nanoseconds: UInt64) {
        for (key, value) in operation.changes {
            var value = value
            if let earliest = value?.earliestEnd, value?.latestEnd == 0 {
                value?.latestEnd = earliest + nanoseconds
            }
            expected[key] = [value]
        }
        if operation.changes.count > 1 { batches += 1 }
    }

    private mutating func interrupt(_ operation: Operation) {
        note("killed", of: operation)
        var before: [String: [Value?]] = [:]
        var after: [String: Value?] = [:]
        for (key, value) in operation.changes {
            var value = value
            // It began before now.
            if let earliest = value?.earliestEnd, value?.latestEnd == 0 {
                value?.latestEnd = max(earliest, monotonicNow() + Acknowledged.longestLifetime)
            }
            before[key] = expected[key] ?? [nil]
            after[key] = .some(value)
            expected[key] = (expected[key] ?? [nil]) + [value]
        }
        if operation.isWhole, after.count > 1 { undecided.append((after, before)) }
    }

    /// Longest TTL of any worker, in nanoseconds.
    private static let longestLifetime: UInt64 = 4_000_000_000

    private mutating func note(_ line: String, of operation: Operation) {
        for key in operation.changes.keys {
            said[key, default: []].append(line)
            if let count = said[key]?.count, count > 30 { said[key]?.removeFirst(15) }
        }
    }

    // MARK: Verification

    mutating func verify(_ archive: Archive) -> Findings { verify { try archive.peek($0) } }

    /// Compares all keys with their present values while their worker doesn't run. Later calls expect these values.
    /// - Parameter moment: Time of the values; `nil`: the time of each read.
    mutating func verify(
        at moment: ClosedRange<UInt64>? = nil, _ peek: (String) throws -> [UInt8]?
    ) -> Findings {
        var findings = Findings()
        var looks: [String: Look] = [:]
        for (key, possible) in expected {
            do {
                let start = monotonicNow()
                let found = try peek(key)
                let look = Look(
                    found: found, start: moment?.lowerBound ?? start,
                    end: moment?.upperBound ?? monotonicNow())
                looks[key] = look
                let left = possible.filter { Self.allows($0, look) }
                expected[key] = left.isEmpty ? nil : left
                if left.isEmpty { complain(key, look, possible, &findings) }
            } catch {
                findings.corrupt += 1
                findings.first = findings.first ?? "\(key): \(error)"
            }
        }
        for operation in undecided { settle(operation.after, operation.before, looks, &findings) }
        undecided = []
        return findings
    }

    private static func allows(_ value: Value?, _ look: Look) -> Bool {
        value?.allows(look) ?? (look.found == nil)
    }

    private mutating func complain(
        _ key: String, _ look: Look, _ possible: [Value?], _ findings: inout Findings
    ) {
        if possible.allSatisfy({ $0 == nil }) { findings.deletedBack += 1 } else { findings.lost += 1 }
        let found = look.found.map { "\($0.count) bytes" } ?? "nothing"
        let text =
            "\(key): found \(found) at \(look.start), may have \(possible), "
            + "said \(said[key, default: []].suffix(15))"
        findings.first = findings.first ?? text
    }

    /// An atomic change is complete or absent.
    private mutating func settle(
        _ after: [String: Value?], _ before: [String: [Value?]], _ looks: [String: Look],
        _ findings: inout Findings
    ) {
        let isDone = after.allSatisfy { key, value in looks[key].map { Self.allows(value, $0) } ?? true }
        let isUndone = before.allSatisfy { key, values in
            looks[key].map { look in values.contains { Self.allows($0, look) } } ?? true
        }
        switch (isDone, isUndone) {
        case (true, false): for (key, value) in after { expected[key] = [value] }
        case (false, true): for (key, values) in before { expected[key] = values }
        case (true, true): break
        case (false, false):
            findings.torn += 1
            let parts = after.map { key, value in
                "\(key): \(looks[key].map { Self.allows(value, $0) } == true ? "done" : "not done")"
            }
            findings.first = findings.first ?? "partial change: \(parts.sorted().prefix(40))"
        }
    }
}
