import CSQLite

/// A connection to a SQLite database, closed by ``close()``. For one thread.
struct SQLiteConnection {
    private let pointer: OpaquePointer

    init(_ path: String) throws {
        var opened: OpaquePointer?
        guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else {
            throw BenchmarkError("SQLite cannot open \(path)")
        }
        pointer = opened
    }

    func execute(_ statement: String) throws {
        guard sqlite3_exec(pointer, statement, nil, nil, nil) == SQLITE_OK else { throw failure(statement) }
    }

    /// A statement for the caller to finalize. `persists`: for many executions.
    func prepare(_ statement: String, persists: Bool = false) throws -> OpaquePointer? {
        var prepared: OpaquePointer?
        let flags = persists ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        guard sqlite3_prepare_v3(pointer, statement, -1, flags, &prepared, nil) == SQLITE_OK else {
            throw failure(statement)
        }
        return prepared
    }

    func failure(_ action: String) -> BenchmarkError {
        BenchmarkError("SQLite: \(action): \(String(cString: sqlite3_errmsg(pointer)))")
    }

    func close() { sqlite3_close(pointer) }
}
