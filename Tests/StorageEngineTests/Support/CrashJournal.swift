import Foundation

/// What a worker said before it died, and so what may be found afterwards.
struct CrashJournal {
    /// The last acknowledged value of each key, or that there is none.
    private(set) var acknowledged: [String: [UInt8]?] = [:]
    /// What was under way: a key, or `*` for all, and its new value.
    private(set) var underWay: (key: String, value: [UInt8]?)?
    /// Values that may be found in the cache, whose entries come and go.
    private(set) var cached: [String: Set<[UInt8]>] = [:]
    private(set) var operations = 0

    static func value(version: UInt64, size: Int) -> [UInt8] {
        withUnsafeBytes(of: version.littleEndian) { Array($0) }
            + [UInt8](repeating: UInt8(truncatingIfNeeded: version), count: size)
    }

    init(_ lines: [String]) {
        for line in lines {
            if line == "<", let operation = underWay {
                operations += 1
                underWay = nil
                if operation.key == "*" {
                    for key in acknowledged.keys { acknowledged[key] = .some(nil) }
                } else {
                    acknowledged[operation.key] = .some(operation.value)
                }
                continue
            }
            // Keys may have spaces; the last two words are version and size.
            let words = line.split(separator: " ")
            guard words.count >= 4, let size = Int(words[words.count - 1]) else { continue }
            let version = UInt64(words[words.count - 2])
            let key = words[1..<(words.count - 2)].joined(separator: " ")
            let value = version.map { CrashJournal.value(version: $0, size: size) }
            if line.hasPrefix("> ") { underWay = (key, value) }
            if line.hasPrefix("? "), let value { cached[key, default: []].insert(value) }
        }
    }

    func allows(_ found: [UInt8]?, under key: String) -> Bool {
        if let value = acknowledged[key], found == value { return true }
        if acknowledged[key] == nil, found == nil { return true }
        guard let underWay, underWay.key == key || underWay.key == "*" else { return false }
        return found == underWay.value
    }

    var keys: Set<String> {
        var keys = Set(acknowledged.keys)
        if let underWay, underWay.key != "*" { keys.insert(underWay.key) }
        return keys
    }
}
