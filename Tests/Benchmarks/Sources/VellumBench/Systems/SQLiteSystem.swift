import CSQLite

/// A SQLite database with one table `WITHOUT ROWID`, its key the primary key: WAL, `synchronous=NORMAL`, the
/// whole file mapped, statements prepared once, autocommit.
final class SQLiteSystem: KeyValueSystem {
    static var version: String { String(cString: sqlite3_libversion()) }

    let name: String
    private let connection: SQLiteConnection
    private var select: OpaquePointer?
    private var insert: OpaquePointer?
    private var range: OpaquePointer?

    init(at path: String, name: String = "SQLite", mapBytes: Int) throws {
        self.name = name
        connection = try SQLiteConnection(path + "/database")
        for pragma in [
            "journal_mode=WAL", "synchronous=NORMAL", "mmap_size=\(mapBytes)", "cache_size=-65536",
        ] {
            try connection.execute("PRAGMA " + pragma)
        }
        try connection.execute(
            "CREATE TABLE entries (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
        select = try connection.prepare("SELECT value FROM entries WHERE key = ?1", persists: true)
        range = try connection.prepare(
            "SELECT value FROM entries WHERE key > ?1 ORDER BY key LIMIT ?2", persists: true)
        insert = try connection.prepare("INSERT OR REPLACE INTO entries VALUES (?1, ?2)", persists: true)
    }

    /// SQLite need not copy the parameters, which stay in memory until the statement is reset.
    @inline(__always)
    private func bindKey(_ statement: OpaquePointer?, _ batch: KeyBatch, _ place: Int) {
        let key = UnsafeRawPointer(batch.pointer(place)).assumingMemoryBound(to: CChar.self)
        sqlite3_bind_text(statement, 1, key, Int32(KeyBatch.keyBytes), nil)
    }

    @inline(__always)
    func put(_ batch: KeyBatch, _ place: Int, _ values: ValuePool, generation: Int) throws {
        bindKey(insert, batch, place)
        let value = values.pointer(batch.ids[place], generation: generation)
        sqlite3_bind_blob(insert, 2, value, Int32(values.valueBytes), nil)
        guard sqlite3_step(insert) == SQLITE_DONE else { throw connection.failure("insert") }
        sqlite3_reset(insert)
    }

    /// Stores the batch in one transaction and moves it from the write-ahead log into the database.
    func load(_ batch: KeyBatch, _ values: ValuePool, generation: Int) throws {
        try connection.execute("BEGIN")
        try put(batch, values, generation: generation)
        try connection.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    @inline(__always)
    func read(_ batch: KeyBatch, _ place: Int) throws -> UInt64 {
        bindKey(select, batch, place)
        guard sqlite3_step(select) == SQLITE_ROW else { throw connection.failure("select") }
        let sum = batch.digest(value(of: select))
        sqlite3_reset(select)
        return sum
    }

    func scan(_ batch: KeyBatch, _ place: Int, count: Int) throws -> UInt64 {
        bindKey(range, batch, place)
        sqlite3_bind_int64(range, 2, Int64(count))
        var sum: UInt64 = 0
        while sqlite3_step(range) == SQLITE_ROW { sum &+= batch.digest(value(of: range)) }
        sqlite3_reset(range)
        return sum
    }

    @inline(__always)
    private func value(of statement: OpaquePointer?) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: sqlite3_column_blob(statement, 0), count: Int(sqlite3_column_bytes(statement, 0)))
    }

    func close() {
        sqlite3_finalize(select)
        sqlite3_finalize(insert)
        sqlite3_finalize(range)
        connection.close()
    }
}
