import CLimits
import Foundation

/// The minimum work for storing and reading a value (LIMITS.md), to show how much ours could improve.
final class LimitSystem: KeyValueSystem {
    static let name: String = "the limit"
    let name: String = LimitSystem.name
    private let store: OpaquePointer

    /// - Parameter entries: the maximum number of keys.
    init(at path: String, entries: Int, valueBytes: Int = Plan.valueBytes) throws {
        guard let store = cl_open(path, entries, valueBytes) else {
            throw BenchmarkError("the limit's files can't be made in \(path)")
        }
        self.store = store
    }

    private init(sharing store: OpaquePointer) throws {
        guard let store = cl_share(store) else { throw BenchmarkError("the limit has no memory") }
        self.store = store
    }

    func put(_ batch: KeyBatch, _ place: Int, _ values: ValuePool, generation: Int) throws {
        let value = values.pointer(batch.ids[place], generation: generation)
        guard cl_put(store, batch.pointer(place), value, values.valueBytes) else {
            throw BenchmarkError("the limit's files are full")
        }
    }

    @inline(__always)
    func read(_ batch: KeyBatch, _ place: Int) throws -> UInt64 {
        var bytes = 0
        guard let value = cl_access(store, batch.pointer(place), &bytes) else {
            throw BenchmarkError("the limit has no entry \(batch.strings[place])")
        }
        let sum = batch.digest(UnsafeRawBufferPointer(start: value, count: bytes))
        cl_used(store, sum)
        return sum
    }

    func another() throws -> any KeyValueSystem { try LimitSystem(sharing: store) }

    func close() { cl_close(store) }

    // MARK: Scans

    /// Nanoseconds for opening an index and a segment and checking one frame.
    static func timeOpening(index: String, segment: String) throws -> Double {
        var sum: UInt64 = 0
        var isDone = false
        let time = Clock.nanoseconds { isDone = cl_open_files(index, segment, Plan.valueBytes, &sum) }
        guard isDone else { throw BenchmarkError("the limit can't open \(index)") }
        return time
    }

    /// Nanoseconds for appending a number of messages to a ring in a file at `path`.
    static func timeAppending(
        _ message: [UInt8], _ count: Int, ringBytes: Int, at path: String
    ) throws -> Double {
        guard let ring = cl_ring_open(path, ringBytes) else {
            throw BenchmarkError("the limit can't make \(path)")
        }
        defer { cl_ring_close(ring) }
        return Clock.nanoseconds {
            for _ in 0..<count { cl_ring_append(ring, message, message.count) }
        }
    }
}

/// The mapped files of a log, read frame by frame with their checksums.
final class LimitFiles {
    private let files: OpaquePointer
    private let bytes: Int

    /// - Parameter bytes: their total size.
    init(_ paths: [String], bytes: Int) throws {
        let names = paths.map { strdup($0) }
        defer { for name in names { free(name) } }
        let pointers: [UnsafePointer<CChar>?] = names.map { UnsafePointer($0) }
        guard let files = cl_files_map(pointers, pointers.count) else {
            throw BenchmarkError("the limit can't read \(paths.first ?? "")")
        }
        self.files = files
        self.bytes = bytes
    }

    deinit { cl_files_unmap(files) }

    /// Reads `entries` frames; with `index`, adds each to an index in a new file of that path.
    func scan(entries: Int, index: String? = nil) throws {
        var sum: UInt64 = 0
        guard cl_files_scan(files, bytes / entries, index == nil ? 0 : entries, index, &sum), sum > 0 else {
            throw BenchmarkError("the limit can't scan")
        }
    }
}

/// Objects in memory under keys of up to 16 bytes, with the minimum work.
final class LimitShelf {
    private let shelf: OpaquePointer

    init(_ objects: [(key: String, value: Int)]) throws {
        let keys = objects.flatMap { LimitShelf.bytes(of: $0.key) }
        guard let shelf = cl_shelf_make(keys, objects.map { Int64($0.value) }, objects.count) else {
            throw BenchmarkError("the limit has no memory")
        }
        self.shelf = shelf
    }

    deinit { cl_shelf_free(shelf) }

    /// The keys in sequence, each padded with zeros.
    static func bytes(of key: String) -> [UInt8] {
        Array((Array(key.utf8) + [UInt8](repeating: 0, count: 16)).prefix(16))
    }

    /// The sum of the values of these keys.
    func sum(_ keys: [UInt8]) -> Int {
        keys.withUnsafeBytes { keys in
            guard let first = keys.baseAddress else { return 0 }
            var sum = 0
            for place in stride(from: 0, to: keys.count, by: 16) {
                sum &+= Int(cl_shelf_get(shelf, first + place))
            }
            return sum
        }
    }
}
