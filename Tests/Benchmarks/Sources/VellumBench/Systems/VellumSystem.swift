import StorageEngine

/// An archive of the engine: a cache with the given limit or, without one, a collection, which never evicts, like the other
/// systems.
final class VellumSystem: KeyValueSystem {
    let name = "Vellum"
    let store: Store
    let archive: Archive

    static let archiveName = "Benchmark"

    init(at path: String, limit: Int? = nil) throws {
        store = try Store.open(at: path)
        archive = try store.archive(
            named: VellumSystem.archiveName,
            orCreate: ArchiveConfiguration(
                kind: limit == nil ? .collection : .cache, diskLimit: limit.map(UInt64.init), memoryLimit: nil
            ))
    }

    /// Opens a store that another process has filled.
    init(sharing path: String) throws {
        store = try Store.open(at: path, createIfMissing: false)
        archive = try store.archive(named: VellumSystem.archiveName)
    }

    @inline(__always)
    func put(_ batch: KeyBatch, _ place: Int, _ values: ValuePool, generation: Int) throws {
        let value = UnsafeRawBufferPointer(
            start: values.pointer(batch.ids[place], generation: generation), count: values.valueBytes)
        try archive.put(bytes: value, forKey: batch.strings[place])
    }

    @inline(__always)
    func read(_ batch: KeyBatch, _ place: Int) throws -> UInt64 {
        let key = batch.strings[place]
        guard let value = try archive.withAccess(key, { batch.digest($0) }) else {
            throw BenchmarkError("Vellum has no entry \(key)")
        }
        return value
    }

    /// Keys have no order: the next ones are selected from a list of all, then accessed one by one.
    func scan(_ batch: KeyBatch, _ place: Int, count: Int) throws -> UInt64 {
        let page = try archive.keys(KeyQuery(order: .key, after: batch.strings[place], limit: count))
        return try page.keys.reduce(0) { $0 &+ (try archive.withAccess($1, batch.digest) ?? 0) }
    }

    /// The store is for any thread.
    func another() throws -> any KeyValueSystem { self }

    func close() { store.close() }
}
