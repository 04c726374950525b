import StorageEngine
import ValkeyWire

/// Counts the hits, misses and commands that this process adds to a server's statistics. Servers count most commands that read
/// a key as hits or misses, and have no option to prevent that.
package struct OwnLookups: Sendable, Hashable {
    package private(set) var hits: UInt64 = 0
    package private(set) var misses: UInt64 = 0
    package private(set) var commands: UInt64 = 0
    /// The server's count of hits in the latest `INFO`.
    private var reported: UInt64 = 0
    /// The latest counts, excluding this process's; of commands, only those that are neither hits nor misses.
    private var otherHits: UInt64 = 0
    private var otherMisses: UInt64 = 0
    private var otherChanges: UInt64 = 0

    private static let counted: Set<String> = [
        "TYPE", "OBJECT", "PTTL", "PEXPIRETIME", "EXISTS", "DUMP", "STRLEN", "GETRANGE", "HLEN", "HSCAN",
        "SCARD", "SSCAN", "LLEN", "LRANGE", "ZCARD", "ZRANGE", "XLEN", "XRANGE",
    ]
    /// Commands that return 0 for an absent key only. Strings and streams may be empty.
    private static let lengths: Set<String> = ["EXISTS", "HLEN", "SCARD", "LLEN", "ZCARD"]

    mutating func note(_ command: RESPCommand, _ reply: RESPValue) {
        commands += 1
        let name = command.name
        guard OwnLookups.counted.contains(name) else { return }
        if let message = reply.error {
            if message.contains("no such key") { misses += 1 }
            if message.hasPrefix("WRONGTYPE") || message.contains("LFU") { hits += 1 }
            return
        }
        let isMiss =
            reply == .null || reply == .status("none") || reply.number == -2 && name.hasPrefix("P")
            || reply.number == 0 && OwnLookups.lengths.contains(name)
        if isMiss { misses += 1 } else { hits += 1 }
    }

    /// Lookups of all connections of this process, by the server's run.
    private static let all = Guarded<[String: OwnLookups]>([:])

    static func add(_ lookups: OwnLookups, in run: String) {
        all.withLock { all in
            all[run, default: OwnLookups()].hits += lookups.hits
            all[run, default: OwnLookups()].misses += lookups.misses
            all[run, default: OwnLookups()].commands += lookups.commands
        }
    }

    static func commands(in run: String) -> UInt64 { all.withLock { $0[run]?.commands ?? 0 } }

    /// Subtracts the lookups in a run from a server's counts, and returns them. The process's count restarts at 0 when the
    /// server's does (`CONFIG RESETSTAT`).
    static func subtract(from figures: inout ServerFigures, in run: String) -> OwnLookups {
        all.withLock { all in
            var own = all[run] ?? OwnLookups()
            if figures.hits < own.reported { own = OwnLookups() }
            own.reported = figures.hits
            // The server doesn't count all commands, for example refused ones. The result must not decrease, which would look
            // like a restart.
            own.otherHits = max(own.otherHits, figures.hits - min(figures.hits, own.hits))
            own.otherMisses = max(own.otherMisses, figures.misses - min(figures.misses, own.misses))
            let lookups = own.otherHits + own.otherMisses
            let commands = figures.commands - min(figures.commands, own.commands)
            own.otherChanges = max(own.otherChanges, commands - min(commands, lookups))
            (figures.hits, figures.misses) = (own.otherHits, own.otherMisses)
            figures.commands = lookups + own.otherChanges
            all[run] = own
            return own
        }
    }
}
