import ArchiveQuery
import StorageEngine

struct SnapshotSource: QuerySource {
    let snapshot: ArchiveSnapshot

    /// Both orders are the same here: a snapshot numbers the most recent entries first.
    func cursor(in order: QueryScanOrder) -> any QueryCursor {
        SnapshotCursor(snapshot, Array(0..<snapshot.count))
    }

    func cursor(forKeys keys: [String]) throws -> any QueryCursor {
        SnapshotCursor(snapshot, Set(try keys.compactMap { try snapshot.number(of: $0) }).sorted())
    }
}

/// Not thread-safe.
private final class SnapshotCursor: QueryCursor {
    private let snapshot: ArchiveSnapshot
    private let numbers: [Int]
    private(set) var visited = 0
    private var loaded: (key: String, entry: CurrentEntry)?
    private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    init(_ snapshot: ArchiveSnapshot, _ numbers: [Int]) {
        self.snapshot = snapshot
        self.numbers = numbers
    }

    deinit { buffer.deallocate() }

    private var number: Int { numbers[visited - 1] }

    var count: Int { numbers.count }

    func advance() -> Bool {
        loaded = nil
        guard visited < numbers.count else { return false }
        visited += 1
        return true
    }

    func load() throws -> QueryCursorReading {
        if loaded != nil { return .present }
        do throws(StorageError) {
            let (key, entry) = try snapshot.entry(at: number)
            loaded = (key, entry)
            copy(entry.value, Array(key.utf8))
            return .present
        } catch {
            guard case .corrupted = error else { throw error }
            return .damaged
        }
    }

    private func copy(_ value: [UInt8], _ key: [UInt8]) {
        if buffer.count < value.count + key.count {
            buffer.deallocate()
            buffer = .allocate(byteCount: value.count + key.count, alignment: 8)
        }
        buffer.copyBytes(from: value)
        UnsafeMutableRawBufferPointer(rebasing: buffer[value.count...]).copyBytes(from: key)
    }

    var keyBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer[valueBytes..<valueBytes + key.utf8.count])
    }
    var valueContent: UnsafeRawBufferPointer? { UnsafeRawBufferPointer(rebasing: buffer[..<valueBytes]) }

    var key: String { loaded?.key ?? "" }
    var valueBytes: Int { loaded?.entry.value.count ?? 0 }
    var encoding: ValueEncoding { loaded?.entry.encoding ?? .unknown }
    var created: Timestamp { loaded?.entry.created ?? snapshot.time }
    var owner: String? { loaded?.entry.owner }
    var sequence: UInt64 { loaded?.entry.sequence ?? 0 }
    var rank: Int? { number + 1 }
    var recency: UInt64 { UInt64(snapshot.count - number) }
    var accessed: Timestamp { snapshot.time }
    var expires: Timestamp? { nil }
    var hits: UInt32 { 0 }
    var tier: Tier { .disk }
}
