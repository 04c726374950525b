/// Keeps entries for a second pass, in a temporary file beyond the memory limit. Not thread-safe.
package final class RowSpool {
    /// Approximate bytes of an entry besides key and value.
    private static let entryBytes = 96

    private let memoryLimit: Int
    private let temporary: TemporaryBudget
    private var entries: [(key: String, value: [UInt8]?)] = []
    private var bytes = 0
    private var file: TemporaryFile?
    package private(set) var count = 0

    package init(memoryLimit: Int, temporaryLimit: Int) {
        self.memoryLimit = memoryLimit
        temporary = TemporaryBudget(limit: temporaryLimit)
    }

    /// - Throws: also if the value and its copies would exceed the memory limit.
    package func append(key: String, value: UnsafeRawBufferPointer?) throws(QueryError) {
        let most = max(1 << 20, memoryLimit) / 4
        guard value?.count ?? 0 <= most else { throw .tooMuchMemory(limit: memoryLimit) }
        count += 1
        entries.append((key, value.map { Array($0) }))
        bytes += key.utf8.count + (value?.count ?? 0) + Self.entryBytes
        if bytes > memoryLimit { try write() }
    }

    private func write() throws(QueryError) {
        if file == nil { file = try TemporaryFile(temporary) }
        guard let file else { return }
        for entry in entries {
            try file.append(Array(entry.key.utf8))
            try file.append(entry.value.map { [1] + $0 } ?? [0])
        }
        (entries, bytes) = ([], 0)
    }

    /// Calls `body` with all entries, once; nothing can be appended afterwards.
    package func forEach(_ body: (_ key: String, _ value: [UInt8]?) throws -> Void) throws {
        if let file {
            try file.rewind()
            while let key = try file.next(), let value = try file.next() {
                try body(
                    String(decoding: key, as: UTF8.self), value.first == 1 ? Array(value.dropFirst()) : nil)
            }
        }
        for entry in entries { try body(entry.key, entry.value) }
    }
}
