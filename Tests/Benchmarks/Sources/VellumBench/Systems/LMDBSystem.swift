import CLMDB

/// An LMDB environment with one unnamed database, `MDB_NOSYNC`: commits survive a crash of the process, not one of the
/// system, like in an archive of the default durability.
final class LMDBSystem: KeyValueSystem {
    static var version: String {
        "\(MDB_VERSION_MAJOR).\(MDB_VERSION_MINOR).\(MDB_VERSION_PATCH)"
    }

    enum Reading {
        /// A read transaction renewed for each look-up, which reads all commits before it.
        case renewed
        /// One read transaction for all look-ups, which reads a snapshot and keeps its pages from being reused.
        case longLived
    }

    let name: String
    private let environment: OpaquePointer
    private let database: MDB_dbi
    private let reading: Reading
    private var reader: OpaquePointer?
    private var isShared = false

    init(
        at path: String, name: String, writeMap: Bool, mapBytes: Int, reading: Reading = .renewed
    ) throws {
        self.name = name
        self.reading = reading
        var environment: OpaquePointer?
        try LMDBSystem.check(mdb_env_create(&environment), "make an environment")
        guard let environment else { throw BenchmarkError("LMDB: no environment") }
        self.environment = environment
        try LMDBSystem.check(mdb_env_set_mapsize(environment, mapBytes), "set the map size")
        let flags = UInt32(MDB_NOSYNC) | (writeMap ? UInt32(MDB_WRITEMAP) : 0)
        try LMDBSystem.check(mdb_env_open(environment, path, flags, 0o600), "open")
        var transaction: OpaquePointer?
        try LMDBSystem.check(mdb_txn_begin(environment, nil, 0, &transaction), "begin")
        var database = MDB_dbi()
        try LMDBSystem.check(mdb_dbi_open(transaction, nil, 0, &database), "open the database")
        try LMDBSystem.check(mdb_txn_commit(transaction), "commit")
        self.database = database
    }

    private static func check(_ code: Int32, _ action: String) throws {
        guard code == MDB_SUCCESS else {
            throw BenchmarkError("LMDB cannot \(action): \(String(cString: mdb_strerror(code)))")
        }
    }

    private init(sharing other: LMDBSystem) {
        (name, environment, database, reading) = (
            other.name, other.environment, other.database, other.reading
        )
        isShared = true
    }

    /// A transaction for each put, also before the clock starts: large ones leave lists of free pages that slow down later
    /// small ones.
    func put(_ batch: KeyBatch, _ place: Int, _ values: ValuePool, generation: Int) throws {
        var transaction: OpaquePointer?
        try LMDBSystem.check(mdb_txn_begin(environment, nil, 0, &transaction), "begin")
        var key = MDB_val(mv_size: KeyBatch.keyBytes, mv_data: batch.pointer(place))
        var value = MDB_val(
            mv_size: values.valueBytes, mv_data: values.pointer(batch.ids[place], generation: generation))
        try LMDBSystem.check(mdb_put(transaction, database, &key, &value, 0), "put")
        try LMDBSystem.check(mdb_txn_commit(transaction), "commit")
    }

    @inline(__always)
    func read(_ batch: KeyBatch, _ place: Int) throws -> UInt64 {
        let transaction = try readTransaction()
        defer { if reading == .renewed { mdb_txn_reset(transaction) } }
        var key = MDB_val(mv_size: KeyBatch.keyBytes, mv_data: batch.pointer(place))
        var value = MDB_val()
        try LMDBSystem.check(mdb_get(transaction, database, &key, &value), "get")
        return batch.digest(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
    }

    /// With a cursor, which is opened for each scan.
    func scan(_ batch: KeyBatch, _ place: Int, count: Int) throws -> UInt64 {
        let transaction = try readTransaction()
        defer { if reading == .renewed { mdb_txn_reset(transaction) } }
        var cursor: OpaquePointer?
        try LMDBSystem.check(mdb_cursor_open(transaction, database, &cursor), "open a cursor")
        defer { mdb_cursor_close(cursor) }
        var key = MDB_val(mv_size: KeyBatch.keyBytes, mv_data: batch.pointer(place))
        var value = MDB_val()
        try LMDBSystem.check(mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE), "seek")
        var sum: UInt64 = 0
        for _ in 0..<count {
            guard mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS else { break }
            sum &+= batch.digest(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
        }
        return sum
    }

    /// The reader, renewed unless it is used for all look-ups.
    @inline(__always)
    private func readTransaction() throws -> OpaquePointer {
        if let reader {
            if reading == .renewed { try LMDBSystem.check(mdb_txn_renew(reader), "renew") }
            return reader
        }
        try LMDBSystem.check(
            mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader), "begin reading")
        guard let reader else { throw BenchmarkError("LMDB: no transaction") }
        return reader
    }

    /// The environment is for any thread, a reader for one.
    func another() throws -> any KeyValueSystem { LMDBSystem(sharing: self) }

    func close() {
        if let reader { mdb_txn_abort(reader) }
        reader = nil
        if !isShared { mdb_env_close(environment) }
    }
}
