/// Values of an archive that this process holds in memory, first in, first out. For one thread.
struct DemoMemory {
    private let archive: Archive
    private let limit: Int
    private var held: [String: (entry: HeldEntry, bytes: Int)] = [:]
    private var order: [String] = []
    private var bytes = 0

    init(_ archive: Archive, limit: UInt64) {
        self.archive = archive
        self.limit = Int(limit)
    }

    /// Whether the value exists in memory or on disk; loads it into memory.
    mutating func access(_ key: String) throws(StorageError) -> Bool {
        if let known = held[key] {
            if try archive.access(known.entry) { return true }
            try drop(key)
        }
        var found: (entry: HeldEntry, bytes: Int)?
        try archive.withHashed(key) { (hashed) throws(StorageError) in
            try archive.withAccessToHold(hashed) { found = ($1, $0.count) }
        }
        guard let found else { return false }
        guard found.bytes <= limit else { return true }
        while bytes + found.bytes > limit, let oldest = order.first { try drop(oldest) }
        held[key] = found
        order.append(key)
        bytes += found.bytes
        try archive.hold(found.entry, bytes: found.bytes)
        try archive.setMemoryUse(bytes: UInt64(bytes))
        return true
    }

    private mutating func drop(_ key: String) throws(StorageError) {
        guard let known = held.removeValue(forKey: key) else { return }
        order.removeAll { $0 == key }
        bytes -= known.bytes
        try archive.release(known.entry, forKey: key)
    }
}
