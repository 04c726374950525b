import StorageEngine

/// One archive of the engine: a cache with exactly the limit that it is given, or, without one, a collection,
/// which never evicts, like its peers.
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

    func put(_ batch: KeyBatch, _ values: ValuePool, generation: Int) throws {
        let archive = archive
        for place in 0..<batch.count {
            let value = UnsafeRawBufferPointer(
                start: values.pointer(batch.ids[place], generation: generation), count: values.valueBytes)
            try archive.put(bytes: value, forKey: batch.strings[place])
        }
    }

    func read(_ batch: KeyBatch) throws -> UInt64 {
        let archive = archive
        var sum: UInt64 = 0
        for key in batch.strings {
            guard let value = try archive.withAccess(key, digest) else {
                throw BenchmarkError("Vellum has no entry \(key)")
            }
            sum &+= value
        }
        return sum
    }

    func close() { store.close() }
}
