import Foundation

/// A file for each key: written to a temporary name and renamed, read as a whole.
final class FilesSystem: KeyValueSystem {
    let name = "a file each"
    private let folder: URL

    init(at path: String) { folder = URL(fileURLWithPath: path) }

    func put(_ batch: KeyBatch, _ place: Int, _ values: ValuePool, generation: Int) throws {
        let value = Data(
            bytesNoCopy: values.pointer(batch.ids[place], generation: generation), count: values.valueBytes,
            deallocator: .none)
        try value.write(to: folder.appendingPathComponent(batch.strings[place]), options: .atomic)
    }

    func read(_ batch: KeyBatch, _ place: Int) throws -> UInt64 {
        try Data(contentsOf: folder.appendingPathComponent(batch.strings[place]))
            .withUnsafeBytes(batch.digest)
    }

    func close() {}
}
