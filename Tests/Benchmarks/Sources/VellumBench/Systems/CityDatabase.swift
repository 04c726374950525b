import GRDB

extension DatabaseQueue {
    /// A database in a folder, with WAL and `synchronous=NORMAL`.
    static func inWAL(at folder: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        return try DatabaseQueue(path: folder + "/database", configuration: configuration)
    }

    /// One with a table of cities.
    static func ofCities(at folder: String) throws -> DatabaseQueue {
        let queue = try inWAL(at: folder)
        try queue.write { database in
            try database.create(table: City.databaseTableName) { table in
                table.primaryKey("geonameid", .integer)
                for column in ["name", "countrycode", "timezone", "admin1code", "alternatenames"] {
                    table.column(column, .text).notNull()
                }
                for column in ["latitude", "longitude"] { table.column(column, .double).notNull() }
                table.column("population", .integer).notNull()
            }
        }
        return queue
    }
}

extension City: FetchableRecord, PersistableRecord {}
