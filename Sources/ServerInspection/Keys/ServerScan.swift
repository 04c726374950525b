import StoreInspection
import SystemC
import ValkeyWire

/// How much of a server's time is taken: after each of many requests it waits nine times as long as the answer took, and a
/// hundred times while others use the server. A value; safe to share between threads.
package struct ScanPace: Sendable {
    private static let pauses = 9.0
    private static let pausesBesideOthers = 100.0
    /// Seconds; what a stopped server or a slow line makes long is no work.
    private static let longest = 0.02

    private let connection: ServerConnection

    package init(_ connection: ServerConnection) { self.connection = connection }

    package func paced<Answer>(_ request: () throws(SourceError) -> Answer) throws(SourceError) -> Answer {
        let before = connection.waited
        let answer = try request()
        let waited = connection.waited - before
        let pauses = connection.isUsedByOthers() ? ScanPace.pausesBesideOthers : ScanPace.pauses
        let seconds = min(ScanPace.longest, pauses * waited)
        usleep(UInt32(seconds * 1_000_000))
        return answer
    }
}

/// Goes through a database's keys by `SCAN`, which serves others between its steps. A key that is there all the time is found; one
/// that comes or goes meanwhile may be. Some may be found twice. For one thread.
package struct ServerScan {
    /// Buckets that the server looks at in a step: of a large table some 70 microseconds, for which others wait.
    private static let step = 50

    private let connection: ServerConnection
    private let database: Int
    private let pattern: [UInt8]?
    private var cursor: [UInt8]? = Array("0".utf8)
    private var answerer: String?

    /// - Parameter pattern: which keys are wanted, as `KEYS` takes it; nil: all.
    package init(_ connection: ServerConnection, database: Int, matching pattern: [UInt8]? = nil) {
        (self.connection, self.database, self.pattern) = (connection, database, pattern)
    }

    package var isAtEnd: Bool { cursor == nil }

    /// The keys of the next step, which may be none; nil at the end.
    package mutating func next() throws(SourceError) -> [[UInt8]]? {
        guard let cursor else { return nil }
        var command = RESPCommand("SCAN") + cursor
        if let pattern { command = command + "MATCH" + pattern }
        let parts = try connection.ask(command + "COUNT" + ServerScan.step, in: database).elements ?? []
        // Its place is one server's: another one would begin anywhere.
        let answerer = try connection.answerer()
        guard answerer == self.answerer ?? answerer else {
            throw SourceError(
                "\(connection.address) is answered by another server than before, so what was found isn't all; begin again"
            )
        }
        self.answerer = answerer
        guard parts.count == 2, case .bytes(let next) = parts[0], let keys = parts[1].elements else {
            throw SourceError("\(connection.address) answers SCAN with what is no step of a scan")
        }
        self.cursor = next == Array("0".utf8) ? nil : next
        return keys.compactMap { if case .bytes(let key) = $0 { key } else { nil } }
    }

    /// What finds the keys that hold a text, in upper or lower case.
    package static func pattern(holding text: String) -> [UInt8] {
        var pattern = "*"
        for scalar in text.unicodeScalars {
            let (lower, upper) = (scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping)
            let isEither = lower != upper && lower.utf8.count == 1 && upper.utf8.count == 1
            pattern += isEither ? "[\(lower)\(upper)]" : ServerScan.escaped(String(scalar))
        }
        return Array((pattern + "*").utf8)
    }

    /// A text as a pattern that is this text alone. Scalars, since with a mark behind it a wildcard is another character.
    package static func escaped(_ text: String) -> String {
        var pattern = ""
        for scalar in text.unicodeScalars {
            if "*?[]\\^".unicodeScalars.contains(scalar) { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
        return pattern
    }
}
