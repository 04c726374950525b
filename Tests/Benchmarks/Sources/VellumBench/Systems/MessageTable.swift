import CSQLite

/// A table of messages in SQLite. For one thread.
final class MessageTable {
    private var connection: OpaquePointer?
    private var prepared: OpaquePointer?
    private static let insertion = "INSERT INTO messages VALUES (?1)"

    /// - Parameter inWAL: with WAL and `synchronous=NORMAL`; else with SQLite's default journal and sync.
    init(path: String, inWAL: Bool = true) throws {
        guard sqlite3_open(path, &connection) == SQLITE_OK else {
            throw BenchmarkError("SQLite cannot open \(path)")
        }
        if inWAL {
            try execute("PRAGMA journal_mode=WAL")
            try execute("PRAGMA synchronous=NORMAL")
        }
        try execute("CREATE TABLE messages (message BLOB NOT NULL)")
        prepared = try prepare(MessageTable.insertion)
    }

    deinit {
        sqlite3_finalize(prepared)
        sqlite3_close(connection)
    }

    func insert(_ message: [UInt8]) throws { try insert(message, prepared) }

    /// Like the CacheAdvance library's benchmark of SQLite: a count, and an insertion prepared each time.
    func insertAfterCounting(_ message: [UInt8]) throws {
        try execute("SELECT COUNT(*) FROM messages")
        let statement = try prepare(MessageTable.insertion)
        defer { sqlite3_finalize(statement) }
        try insert(message, statement)
    }

    /// Reads each message.
    func count() throws -> Int {
        let statement = try prepare("SELECT message FROM messages")
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
            guard sqlite3_step(statement) == SQLITE_DONE else { throw BenchmarkError("SQLite: insert") }
            sqlite3_reset(statement)
        }
    }

    private func execute(_ text: String) throws {
        guard sqlite3_exec(connection, text, nil, nil, nil) == SQLITE_OK else {
            throw BenchmarkError("SQLite: \(text): \(String(cString: sqlite3_errmsg(connection)))")
        }
    }

    private func prepare(_ text: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, text, -1, &statement, nil) == SQLITE_OK else {
            throw BenchmarkError("SQLite: \(text): \(String(cString: sqlite3_errmsg(connection)))")
        }
        return statement
    }
}
