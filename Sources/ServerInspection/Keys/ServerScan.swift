import CBOR
import StoreInspection
import ValkeyWire

/// Iterates over a database's keys with `SCAN`. Finds each key that exists during the whole scan, perhaps twice; may find
/// or miss keys that are added or deleted during it. For one thread.
package struct ServerScan {
    /// Hash table buckets in a step, some 70 microseconds of the server's time.
    private static let step = 50

    private let connection: ServerConnection
    private let database: Int
    private let pattern: [UInt8]?
    private var cursor: [UInt8]? = Array("0".utf8)
    private var server: Int?

    /// - Parameter pattern: a pattern as for `MATCH`; nil: all keys.
    package init(_ connection: ServerConnection, database: Int, matching pattern: [UInt8]? = nil) {
        (self.connection, self.database, self.pattern) = (connection, database, pattern)
    }

    package var isAtEnd: Bool { cursor == nil }

    /// Returns the keys of the next step, perhaps none; nil at the end.
    package mutating func next() throws(SourceError) -> [[UInt8]]? {
        guard let cursor else { return nil }
        var command = RESPCommand("SCAN") + cursor
        if let pattern { command = command + "MATCH" + pattern }
        let answer = try connection.ask(command + "COUNT" + ServerScan.step, in: database)
        // A cursor is only valid on its server.
        let server = try connection.serverNumber()
        guard server == self.server ?? server else { throw connection.anotherServer }
        self.server = server
        guard let (next, keys) = answer.scanned else {
            throw SourceError("\(connection.address) sent an invalid answer to SCAN")
        }
        self.cursor = next == Array("0".utf8) ? nil : next
        return keys.compactMap(\.blob)
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
