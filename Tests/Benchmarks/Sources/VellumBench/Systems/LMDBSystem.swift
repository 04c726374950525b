import CLMDB

/// An LMDB environment with one unnamed database, `MDB_NOSYNC`: what is committed survives the death of the
/// process and not that of the machine, as an archive of the default durability does.
final class LMDBSystem: KeyValueSystem {
    static var version: String {
        "\(MDB_VERSION_MAJOR).\(MDB_VERSION_MINOR).\(MDB_VERSION_PATCH)"
    }

    enum Reading {
        /// A read transaction renewed for each look-up, which sees what was committed before it.
        case renewed
        /// One read transaction for all look-ups, which sees the past and keeps pages from being used again.
        case longLived
    }

    let name: String
    private let environment: OpaquePointer
    private let database: MDB_dbi
    private let reading: Reading
    private var reader: OpaquePointer?

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

    func put(_ batch: KeyBatch, _ values: ValuePool, generation: Int) throws {
        try put(batch, values, generation: generation, perTransaction: 1)
    }

    /// Stores many values in a transaction, to fill the database before the clock starts.
    func put(_ batch: KeyBatch, _ values: ValuePool, generation: Int, perTransaction: Int) throws {
        var place = 0
        while place < batch.count {
            var transaction: OpaquePointer?
            try LMDBSystem.check(mdb_txn_begin(environment, nil, 0, &transaction), "begin")
            let end = min(place + perTransaction, batch.count)
            while place < end {
                var key = MDB_val(mv_size: KeyBatch.keyBytes, mv_data: batch.pointer(place))
                var value = MDB_val(
                    mv_size: values.valueBytes,
                    mv_data: values.pointer(batch.ids[place], generation: generation))
                try LMDBSystem.check(mdb_put(transaction, database, &key, &value, 0), "put")
                place += 1
            }
            try LMDBSystem.check(mdb_txn_commit(transaction), "commit")
        }
    }

    func read(_ batch: KeyBatch) throws -> UInt64 {
        let transaction = try readTransaction()
        var sum: UInt64 = 0
        for place in 0..<batch.count {
            if reading == .renewed {
                mdb_txn_reset(transaction)
                try LMDBSystem.check(mdb_txn_renew(transaction), "renew")
            }
            var key = MDB_val(mv_size: KeyBatch.keyBytes, mv_data: batch.pointer(place))
            var value = MDB_val()
            try LMDBSystem.check(mdb_get(transaction, database, &key, &value), "get")
            sum &+= digest(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
        }
        mdb_txn_reset(transaction)
        return sum
    }

    /// The reader, renewed.
    private func readTransaction() throws -> OpaquePointer {
        if let reader {
            try LMDBSystem.check(mdb_txn_renew(reader), "renew")
            return reader
        }
        try LMDBSystem.check(
            mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader), "begin reading")
        guard let reader else { throw BenchmarkError("LMDB: no transaction") }
        return reader
    }

    func close() {
        if let reader { mdb_txn_abort(reader) }
        reader = nil
        mdb_env_close(environment)
    }
}
