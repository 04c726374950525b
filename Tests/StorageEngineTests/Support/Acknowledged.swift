import StorageEngine

/// What may be found under the keys of a worker that says what it does: the last acknowledged state of each,
/// or the one that was under way when the worker was killed.
struct Acknowledged {
    /// A value as its worker makes it.
    private struct Value {
        var version: UInt64
        var size: Int

        func equals(_ bytes: [UInt8]) -> Bool {
            bytes.count == size + 8
                && bytes.starts(with: withUnsafeBytes(of: version.littleEndian) { Array($0) })
                && bytes[8...].allSatisfy { [low = UInt8(truncatingIfNeeded: version)] in $0 == low }
        }
    }

    /// No value: deleted, or never stored.
    private struct Expectation {
        var acknowledged: Value?
        var underWay: Value??

        func allows(_ found: [UInt8]?) -> Bool {
            if allows(found, acknowledged) { return true }
            if case .some(let other) = underWay { return allows(found, other) }
            return false
        }

        private func allows(_ found: [UInt8]?, _ value: Value?) -> Bool {
            guard let found, let value else { return found == nil && value == nil }
            return value.equals(found)
        }

        /// Which of the two states was found; that is expected from then on.
        mutating func settle(_ found: [UInt8]?) {
            if case .some(let other) = underWay, !allows(found, acknowledged) { acknowledged = other }
            underWay = nil
        }
    }

    /// How often something else was found.
    struct Findings {
        var lost = 0
        var deletedBack = 0
        var corrupt = 0
        var first: String?

        var isEmpty: Bool { lost + deletedBack + corrupt == 0 }

        static func += (sum: inout Findings, more: Findings) {
            sum.lost += more.lost
            sum.deletedBack += more.deletedBack
            sum.corrupt += more.corrupt
            sum.first = sum.first ?? more.first
        }
    }

    private var expected: [String: Expectation] = [:]
    /// The latest lines that are about each key, for whoever has to find out what went wrong.
    private var said: [String: [String]] = [:]
    private(set) var operations = 0

    /// Takes in what one run of the worker said; returns how many operations were acknowledged.
    @discardableResult
    mutating func replay(_ lines: [String]) -> Int {
        var acknowledged = 0
        var pending: (key: String, value: Value?)?
        var latest = ""
        for line in lines {
            if line.hasPrefix("> ") || line.hasPrefix("? ") {
                latest = String(line.split(separator: " ")[1])
            }
            note(line, of: latest)
            if line == "<", let operation = pending {
                expected[operation.key] = Expectation(acknowledged: operation.value)
                acknowledged += 1
                pending = nil
            } else if line.hasPrefix("> ") {
                let words = line.split(separator: " ")
                guard words.count == 4, let size = Int(words[3]) else { continue }
                let version = UInt64(words[2])
                pending = (String(words[1]), version.map { Value(version: $0, size: size) })
            }
        }
        note("killed", of: latest)
        if let operation = pending {
            expected[operation.key, default: Expectation()].underWay = .some(operation.value)
        }
        operations += acknowledged
        return acknowledged
    }

    private mutating func note(_ line: String, of key: String) {
        said[key, default: []].append(line)
        if let count = said[key]?.count, count > 30 { said[key]?.removeFirst(15) }
    }

    /// Compares all keys with the archive while their worker does not run; what is found is then expected on.
    mutating func verify(_ archive: Archive) -> Findings {
        var findings = Findings()
        for (key, expectation) in expected {
            do {
                let found = try archive.peek(key)
                if expectation.allows(found) {
                    expected[key]?.settle(found)
                    continue
                }
                expected[key] = nil
                let text =
                    "\(key): found \(found.map { "\($0.count) bytes" } ?? "nothing"), "
                    + "acknowledged \(expectation.acknowledged.map { "version \($0.version)" } ?? "nothing")"
                    + ", said \(said[key, default: []].suffix(15))"
                if expectation.acknowledged == nil { findings.deletedBack += 1 } else { findings.lost += 1 }
                findings.first = findings.first ?? text
            } catch {
                findings.corrupt += 1
                findings.first = findings.first ?? "\(key): \(error)"
            }
        }
        return findings
    }
}
