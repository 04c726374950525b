import Foundation

/// The output of a crashed worker, and the values that it allows. Its lines:
///
/// `> KEY VERSION SIZE` (or `delete 0`): begins a change; `*` stands for every key. `= KEY VERSION SIZE` lines followed
/// by `> @ whole|each ACTION`: changes made together, or one after the other; an action other than 0 is being undone.
/// `? KEY VERSION SIZE`: stored in the cache. `m> VERSION SIZE`, `l> LIMIT`: a message, or a limit, of the log. `<` and
/// `m<`: acknowledged.
struct CrashJournal {
    struct Operation {
        var changes: [String: [UInt8]?]
        /// Whether it is atomic.
        var isWhole = true
        /// Number of the action that it undoes, or 0.
        var undone: UInt32 = 0
    }

    /// Last acknowledged value of each key; `nil` if deleted.
    private(set) var acknowledged: [String: [UInt8]?] = [:]
    private(set) var underWay: Operation?
    /// Values that the cache may contain.
    private(set) var cached: [String: Set<[UInt8]>] = [:]
    /// Acknowledged messages, and those after the change in progress.
    private(set) var messages = Ring()
    private(set) var messagesIfDone: Ring?
    private(set) var operations = 0
    private(set) var complaints: [String] = []

    /// A plain model of a log.
    struct Ring {
        var limit = 20_000
        var messages: [[UInt8]] = []
        private var bytes = 0

        mutating func fit() {
            var first = 0
            while bytes > limit {
                bytes -= messages[first].count
                first += 1
            }
            messages.removeFirst(first)
        }

        mutating func append(_ message: [UInt8]) {
            messages.append(message)
            bytes += message.count
            fit()
        }
    }

    static func value(version: UInt64, size: Int) -> [UInt8] {
        withUnsafeBytes(of: version.littleEndian) { Array($0) }
            + repeated(UInt8(truncatingIfNeeded: version), size)
    }

    init(_ lines: [String]) {
        var together: [String: [UInt8]?] = [:]
        for line in lines {
            if line.hasPrefix("!") { complaints.append(line) }
            if line == "<", let operation = underWay {
                operations += 1
                underWay = nil
                acknowledged.merge(operation.changes) { $1 }
            } else if line == "m<", let done = messagesIfDone {
                messages = done
                messagesIfDone = nil
            } else if line.hasPrefix("m> ") || line.hasPrefix("l> ") {
                noteMessage(line.split(separator: " "))
            } else {
                noteChange(line.split(separator: " "), &together)
            }
        }
    }

    private mutating func noteMessage(_ words: [Substring]) {
        var ring = messages
        if words.count == 3, let version = UInt64(words[1]), let size = Int(words[2]) {
            ring.append(CrashJournal.value(version: version, size: size))
        } else if words.count == 2, let limit = Int(words[1]) {
            ring.limit = limit
            ring.fit()
        }
        messagesIfDone = ring
    }

    private mutating func noteChange(_ words: [Substring], _ together: inout [String: [UInt8]?]) {
        // Keys may have spaces; the last two words are version and size.
        guard words.count >= 4, let size = Int(words[words.count - 1]) else { return }
        let version = UInt64(words[words.count - 2])
        let key = words[1..<(words.count - 2)].joined(separator: " ")
        let value = version.map { CrashJournal.value(version: $0, size: size) }
        switch (words[0], key) {
        case ("=", _): together[key] = .some(value)
        case (">", "@"):
            underWay = Operation(
                changes: together, isWhole: words[2] == "whole", undone: UInt32(clamping: size))
            together = [:]
        case (">", "*"): underWay = Operation(changes: acknowledged.mapValues { _ in nil })
        case (">", _): underWay = Operation(changes: [key: value])
        case ("?", _): if let value { cached[key, default: []].insert(value) }
        default: break
        }
    }

    func allows(_ found: [UInt8]?, under key: String) -> Bool {
        if found == acknowledged[key] ?? nil { return true }
        guard let change = underWay?.changes[key] else { return false }
        return found == change
    }

    /// Whether an atomic change in progress is found in part.
    func isTorn(_ found: [String: [UInt8]]) -> Bool {
        guard let underWay, underWay.isWhole else { return false }
        let changes = underWay.changes.filter { acknowledged[$0.key] ?? nil != $0.value }
        let done = changes.count { found[$0.key] == $0.value }
        return done != 0 && done != changes.count
    }

    /// Whether the log may have these messages.
    func allows(messages found: [[UInt8]]) -> Bool {
        found == messages.messages || found == messagesIfDone?.messages
    }

    var keys: Set<String> { Set(acknowledged.keys).union((underWay?.changes ?? [:]).keys) }
}
