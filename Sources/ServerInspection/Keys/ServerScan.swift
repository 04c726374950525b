import CBOR
import StoreInspection
import ValkeyWire

/// Iterates over a database's keys with `SCAN`. Finds each key that exists during the whole scan, perhaps twice; may find
/// or miss keys that are added or deleted during it. For one thread.
package struct ServerScan: Sendable {
    /// Hash table buckets in the smallest step, some 70 microseconds of the server's time.
    private static let step = 50

    private let connection: ServerConnection
    private let database: Int
    private let pattern: [UInt8]?
    private var cursor: [UInt8]? = Array("0".utf8)
    private var server: Int?
    private var progress: ScanProgress

    /// - Parameter pattern: a pattern as for `MATCH`; nil: all keys.
    package init(_ connection: ServerConnection, database: Int, matching pattern: [UInt8]? = nil) {
        (self.connection, self.database, self.pattern) = (connection, database, pattern)
        progress = ScanProgress(connection, "SCAN")
    }

    package var isAtEnd: Bool { cursor == nil }

    /// Returns the new keys of the next step, perhaps none; nil at the end.
    /// - Parameters:
    ///   - seen: the keys found so far; the new ones are inserted.
    ///   - most: maximum number of keys in `seen`.
    /// - Throws: also if the scan makes no progress (``ScanProgress``).
    package mutating func next(_ seen: inout KeyTable, most: Int = .max) throws(SourceError) -> [[UInt8]]? {
        guard let cursor else { return nil }
        var command = RESPCommand("SCAN") + cursor
        if let pattern { command = command + "MATCH" + pattern }
        let reply = try connection.ask(
            command + "COUNT" + ServerScan.step * connection.stepFactor, in: database)
        // A cursor is only valid on its server.
        let server = try connection.serverNumber()
        guard server == self.server ?? server else { throw connection.anotherServer }
        self.server = server
        guard let (next, keys) = reply.scanned else { throw connection.invalidReply(to: "SCAN") }
        self.cursor = next == Array("0".utf8) ? nil : next
        let new = keys.compactMap(\.blob).filter { seen.count < most && seen.insert($0) }
        let (connection, database) = (connection, database)
        try progress.note(new.count, before: next) { () throws(SourceError) in
            let keys = try connection.ask(RESPCommand("DBSIZE"), in: database).number ?? 0
            return Int(clamping: keys) / ServerScan.step
        }
        return new
    }

    /// The pattern of keys that contain a text, in upper or lower case, or the bytes that it spells.
    package static func pattern(holding text: String) -> [UInt8] {
        let wildcard = Array("*".utf8)
        if case .bytes(let bytes) = ByteText.value(of: text) {
            return wildcard + KeyPattern.escaped(bytes) + wildcard
        }
        return text.unicodeScalars.reduce(into: wildcard) { pattern, scalar in
            let (lower, upper) = (scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping)
            let isEither = lower != upper && lower.utf8.count == 1 && upper.utf8.count == 1
            pattern += isEither ? Array("[\(lower)\(upper)]".utf8) : KeyPattern.escaped("\(scalar)".utf8)
        } + wildcard
    }

    package static func escaped(_ text: String) -> String {
        String(decoding: KeyPattern.escaped(text.utf8), as: UTF8.self)
    }
}

/// Stops an endless scan: one that repeats a cursor, or has too many successive replies without a new element.
///
/// A reply without elements is legal: the server then has visited at least ten times `COUNT` buckets. It shrinks a table that is
/// less than a tenth full, so it sends at most two such replies for each `COUNT` elements. Twenty are allowed, plus
/// ``ServerConnection/idleReplies`` for a table that isn't shrunk, such as during a snapshot.
struct ScanProgress {
    private let connection: ServerConnection
    private let name: String
    private var cursors = ScanCursors()
    private var most: Int?

    init(_ connection: ServerConnection, _ name: String) { (self.connection, self.name) = (connection, name) }

    /// - Parameters:
    ///   - new: number of new elements in a reply.
    ///   - cursor: the cursor in that reply.
    ///   - parts: returns the number of elements divided by the smallest `COUNT`. Called at most once.
    mutating func note(
        _ new: Int, before cursor: [UInt8], of parts: () throws(SourceError) -> Int
    ) throws(SourceError) {
        let isAdvanced = cursors.isAdvanced(to: cursor, new: new)
        if isAdvanced, cursors.count > connection.idleReplies, most == nil {
            most = connection.idleReplies + 20 * min(try parts(), 1 << 32)
        }
        if isAdvanced, cursors.count <= most ?? .max { return }
        let fault = isAdvanced ? "sent \(Figures.count(cursors.count)) replies" : "repeats its replies"
        throw SourceError(
            "\(connection.address) \(fault) to \(name) without a new element; the scan was stopped")
    }
}
