/// Something that stores values under keys. A whole batch is one call, so that calling through this protocol
/// costs the operations nothing.
protocol KeyValueSystem: AnyObject {
    var name: String { get }
    /// Stores a value for each key, each in an operation of its own that survives the death of the process.
    func put(_ batch: KeyBatch, _ values: ValuePool, generation: Int) throws
    /// Reads the value of each key, each in an operation of its own, and returns the sum of their digests.
    func read(_ batch: KeyBatch) throws -> UInt64
    func close()
}
