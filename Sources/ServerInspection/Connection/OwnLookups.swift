import StorageEngine
import ValkeyWire

/// The lookups of keys and the commands that this program has caused at a server. Most commands that read anything of a key are hits
/// or misses in the server's statistics, and no option of a server or a command leaves them out. A value; safe to share between threads.
package struct OwnLookups: Sendable, Hashable {
    package private(set) var hits: UInt64 = 0
    package private(set) var misses: UInt64 = 0
    package private(set) var commands: UInt64 = 0
    /// The server's own count of hits, when it was read last.
    private var told: UInt64 = 0

    private static let counted: Set<String> = [
        "TYPE", "OBJECT", "PTTL", "PEXPIRETIME", "EXISTS", "DUMP", "STRLEN", "GETRANGE", "HLEN", "HSCAN",
        "SCARD",
        "SSCAN", "LLEN", "LRANGE", "ZCARD", "ZRANGE", "XLEN", "XRANGE",
    ]
    /// Those whose answer 0 is of an absent key. Strings and streams may be empty.
    private static let lengths: Set<String> = ["EXISTS", "HLEN", "SCARD", "LLEN", "ZCARD"]

    mutating func note(_ command: RESPCommand, _ answer: RESPValue) {
        commands += 1
        let name = command.name
        guard OwnLookups.counted.contains(name) else { return }
        if case .error(let message) = answer {
            if message.contains("no such key") { misses += 1 }
            if message.hasPrefix("WRONGTYPE") || message.contains("LFU") { hits += 1 }
            return
        }
        let isMiss =
            answer == .null || answer == .status("none") || answer.number == -2 && name.hasPrefix("P")
            || answer.number == 0 && OwnLookups.lengths.contains(name)
        if isMiss { misses += 1 } else { hits += 1 }
    }

    mutating func add(_ other: OwnLookups) {
        hits += other.hits
        misses += other.misses
        commands += other.commands
    }

    /// Begins again if the server's counts did (`CONFIG RESETSTAT`).
    mutating func note(told hits: UInt64) {
        if hits < told { self = OwnLookups() }
        told = hits
    }

    /// Of this process, by the run of the server: all connections count.
    private static let all = Guarded<[String: OwnLookups]>([:])

    static func add(_ lookups: OwnLookups, in run: String) {
        all.withLock { $0[run, default: OwnLookups()].add(lookups) }
    }

    static func at(_ run: String, told hits: UInt64) -> OwnLookups {
        all.withLock { all in
            all[run, default: OwnLookups()].note(told: hits)
            return all[run, default: OwnLookups()]
        }
    }
}
