import CBOR
import CSQLite
import Foundation

/// The cities in a SQLite database twice: as JSON text in one column, and in a native column for each property. The whole
/// file is mapped, statements are prepared once; there is no index but the primary key's.
final class CityTables {
    /// The form of a table.
    enum Form: CaseIterable {
        case json, columns

        var name: String {
            switch self {
            case .json: "SQLite, JSON1"
            case .columns: "SQLite, native columns"
            }
        }

        fileprivate var table: String { self == .json ? "documents" : "cities" }

        fileprivate func column(_ name: Substring) -> String {
            self == .json && name != "key" ? "json_extract(value, '$.\(name)')" : String(name)
        }
    }

    private let connection: SQLiteConnection

    init(at path: String, mapBytes: Int) throws {
        connection = try SQLiteConnection(path + "/database")
        try connection.execute(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=\(mapBytes)")
        try connection.execute("CREATE TABLE documents (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        try connection.execute(
            """
            CREATE TABLE cities (key TEXT PRIMARY KEY, geonameid INT, name TEXT, latitude REAL, longitude REAL, \
            countrycode TEXT, population INT, timezone TEXT, admin1code TEXT, alternatenames TEXT)
            """)
    }

    /// Stores the cities in one transaction.
    func load(_ cities: some Sequence<City>) throws {
        try connection.execute("BEGIN")
        let document = try connection.prepare("INSERT INTO documents VALUES (?1, ?2)")
        let columns = try connection.prepare(
            "INSERT INTO cities VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")
        defer {
            sqlite3_finalize(document)
            sqlite3_finalize(columns)
        }
        for city in cities {
            let json = try JSONPrinter.text(of: CBOREncoder().encode(city))
            let names = try JSONPrinter.text(of: CBOREncoder().encode(city.alternatenames))
            bind(document, 1, String(city.geonameid))
            bind(document, 2, json)
            bind(columns, 1, String(city.geonameid))
            sqlite3_bind_int64(columns, 2, Int64(city.geonameid))
            bind(columns, 3, city.name)
            sqlite3_bind_double(columns, 4, city.latitude)
            sqlite3_bind_double(columns, 5, city.longitude)
            bind(columns, 6, city.countrycode)
            sqlite3_bind_int64(columns, 7, Int64(city.population))
            bind(columns, 8, city.timezone)
            bind(columns, 9, city.admin1code)
            bind(columns, 10, names)
            for statement in [document, columns] {
                guard sqlite3_step(statement) == SQLITE_DONE else { throw connection.failure("insert") }
                sqlite3_reset(statement)
            }
        }
        try connection.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// The first columns of the rows, separated by a space. `query` has the names of properties in braces, and `{}` for the
    /// table.
    func answer(_ query: String, _ form: Form) throws -> [String] {
        let text = query.replacing("{}", with: form.table).replacing(/\{(\w+)\}/) { form.column($0.output.1) }
        let statement = try connection.prepare(text)
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            let columns = (0..<min(2, sqlite3_column_count(statement))).map {
                sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? ""
            }
            rows.append(columns.joined(separator: " "))
        }
        return rows
    }

    private func bind(_ statement: OpaquePointer?, _ place: Int32, _ text: String) {
        // SQLITE_TRANSIENT, which makes SQLite copy the text, is a macro that isn't imported.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement, place, text, Int32(text.utf8.count), copies)
    }

    func close() { connection.close() }
}
