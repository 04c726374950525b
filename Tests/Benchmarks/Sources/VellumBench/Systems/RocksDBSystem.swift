#if ROCKSDB
import CRocksDB

/// A RocksDB database configured for look-ups of single keys, as its authors recommend, with a cache for all values, a Bloom
/// filter of ten bits per key, and blocks with a hash index. Puts are written to the write-ahead log without a sync. Random
/// bytes aren't compressed.
final class RocksDBSystem: KeyValueSystem {
    static let isThere = true
    let name = "RocksDB"
    private let database: OpaquePointer
    private let options = rocksdb_options_create()
    private let writing = rocksdb_writeoptions_create()
    private let reading = rocksdb_readoptions_create()

    init(at path: String, cacheBytes: Int) throws {
        rocksdb_options_set_create_if_missing(options, 1)
        rocksdb_options_increase_parallelism(options, 2)
        rocksdb_options_optimize_for_point_lookup(options, UInt64(cacheBytes >> 20) + 64)
        rocksdb_options_set_compression(options, Int32(rocksdb_no_compression))
        rocksdb_writeoptions_set_sync(writing, 0)
        var failure: UnsafeMutablePointer<CChar>?
        let opened = rocksdb_open(options, path, &failure)
        guard let opened else {
            throw BenchmarkError("RocksDB: \(failure.map { String(cString: $0) } ?? "can't open \(path)")")
        }
        database = opened
    }

    private static func check(_ failure: UnsafeMutablePointer<CChar>?) throws {
        guard let failure else { return }
        throw BenchmarkError("RocksDB: \(String(cString: failure))")
    }

    @inline(__always)
    private func key(_ batch: KeyBatch, _ place: Int) -> UnsafePointer<CChar> {
        UnsafeRawPointer(batch.pointer(place)).assumingMemoryBound(to: CChar.self)
    }

    @inline(__always)
    func put(_ batch: KeyBatch, _ place: Int, _ values: ValuePool, generation: Int) throws {
        let value = UnsafeRawPointer(values.pointer(batch.ids[place], generation: generation))
        var failure: UnsafeMutablePointer<CChar>?
        rocksdb_put(
            database, writing, key(batch, place), KeyBatch.keyBytes,
            value.assumingMemoryBound(to: CChar.self), values.valueBytes, &failure)
        try RocksDBSystem.check(failure)
    }

    @inline(__always)
    func read(_ batch: KeyBatch, _ place: Int) throws -> UInt64 {
        var failure: UnsafeMutablePointer<CChar>?
        let found = rocksdb_get_pinned(database, reading, key(batch, place), KeyBatch.keyBytes, &failure)
        try RocksDBSystem.check(failure)
        guard let found else { throw BenchmarkError("RocksDB has no entry \(batch.strings[place])") }
        defer { rocksdb_pinnableslice_destroy(found) }
        var bytes = 0
        let value = rocksdb_pinnableslice_value(found, &bytes)
        return batch.digest(UnsafeRawBufferPointer(start: value, count: bytes))
    }

    /// With an iterator, which is created for each scan.
    func scan(_ batch: KeyBatch, _ place: Int, count: Int) throws -> UInt64 {
        let iterator = rocksdb_create_iterator(database, reading)
        defer { rocksdb_iter_destroy(iterator) }
        rocksdb_iter_seek(iterator, key(batch, place), KeyBatch.keyBytes)
        var sum: UInt64 = 0
        for _ in 0..<count {
            rocksdb_iter_next(iterator)
            guard rocksdb_iter_valid(iterator) != 0 else { break }
            var bytes = 0
            let value = rocksdb_iter_value(iterator, &bytes)
            sum &+= batch.digest(UnsafeRawBufferPointer(start: value, count: bytes))
        }
        return sum
    }

    func close() {
        rocksdb_close(database)
        rocksdb_readoptions_destroy(reading)
        rocksdb_writeoptions_destroy(writing)
        rocksdb_options_destroy(options)
    }
}
#endif
