import CSQLite

/// A table of messages in SQLite. For one thread.
final class MessageTable {
    private let connection: SQLiteConnection
    private let prepared: OpaquePointer?
    private static let insertion = "INSERT INTO messages VALUES (?1)"

    /// - Parameter inWAL: with WAL and `synchronous=NORMAL`; else with SQLite's default journal and sync.
    init(path: String, inWAL: Bool = true) throws {
        connection = try SQLiteConnection(path)
        if inWAL {
            try connection.execute("PRAGMA journal_mode=WAL")
            try connection.execute("PRAGMA synchronous=NORMAL")
        }
        try connection.execute("CREATE TABLE messages (message BLOB NOT NULL)")
        prepared = try connection.prepare(MessageTable.insertion)
    }

    deinit {
        sqlite3_finalize(prepared)
        connection.close()
    }

    func insert(_ message: [UInt8]) throws { try insert(message, prepared) }

    /// Like the CacheAdvance library's benchmark of SQLite: a count, and an insertion prepared each time.
    func insertAfterCounting(_ message: [UInt8]) throws {
        try connection.execute("SELECT COUNT(*) FROM messages")
        let statement = try connection.prepare(MessageTable.insertion)
        defer { sqlite3_finalize(statement) }
        try insert(message, statement)
    }

    /// Reads each message.
    func count() throws -> Int {
        let statement = try connection.prepare("SELECT message FROM messages")
        defer { sqlite3_finalize(statement) }
        var messages: [[UInt8]] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            let size = Int(sqlite3_column_bytes(statement, 0))
            let bytes = UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, 0), count: size)
            messages.append(Array(bytes))
        }
        return messages.count
    }

    private func insert(_ message: [UInt8], _ statement: OpaquePointer?) throws {
        try message.withUnsafeBytes { bytes in
            sqlite3_bind_blob(statement, 1, bytes.baseAddress, Int32(bytes.count), nil)
            guard sqlite3_step(statement) == SQLITE_DONE else { throw connection.failure("insert") }
            sqlite3_reset(statement)
        }
    }
}
