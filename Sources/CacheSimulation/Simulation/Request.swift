/// A request to a cache, from a trace or a running program.
package struct Request: Sendable {
    package enum Kind: UInt8, Sendable {
        /// Counts as a hit or a miss. A miss adds the key if its size is known.
        case read
        /// A hit of the recorded cache. If it is the key's first request, the key was stored before the recording began.
        /// Simulated caches that are at least as large then contain it, too.
        case hit
        /// A read that the recorded cache missed. Counts like a read, but only a write adds the key.
        case miss
        /// Stores a value. Directly after a read of the same key it isn't an access: it stores the value that the read missed.
        case write
        case delete
        /// Changes the expiry time of a stored key. Not an access. As the key's first request, it adds the key like a hit.
        case expire
        /// Deletes all keys; the hash is 0.
        case deleteAll
    }

    /// Hash of the key with well distributed bits; the lowest 24 decide whether the key is sampled.
    package var hash: UInt64
    /// Size of the value in bytes; 0 if unknown.
    package var size: Int
    package var kind: Kind
    package var isRead: Bool { kind == .read || kind == .hit || kind == .miss }
    /// Time in any unit, never decreasing.
    package var time: Int64
    /// Expiry time, in the unit of `time`; nil: a read or miss keeps the key's expiry time, others remove it.
    package var expiry: Int64?
    /// A number that the caller assigns to an owner or a key prefix.
    package var group: UInt16

    package init(
        hash: UInt64, size: Int = 0, kind: Kind = .read, time: Int64 = 0, expiry: Int64? = nil,
        group: UInt16 = 0
    ) {
        (self.hash, self.size, self.kind) = (hash, size, kind)
        (self.time, self.expiry, self.group) = (time, expiry, group)
    }

    /// The hash of a key's bytes: FNV-1a, mixed as in SplitMix64.
    package static func hash(_ key: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in key { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
        hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
        return hash ^ (hash >> 31)
    }
}

package enum LimitUnit: String, CaseIterable, Sendable { case entries, bytes }

package enum CachePolicy: String, CaseIterable, Sendable {
    case lru, sieve, s3fifo, wtinylfu
    /// Belady's optimum; needs the whole trace.
    case opt

    package static let online = allCases.filter { $0 != .opt }

    package var title: String {
        switch self {
        case .lru: "LRU"
        case .sieve: "SIEVE"
        case .s3fifo: "S3-FIFO"
        case .wtinylfu: "W-TinyLFU"
        case .opt: "OPT"
        }
    }

    /// Returns an empty cache; nil for the optimum, which isn't an ``EvictionPolicy``.
    func cache(limit: Int) -> (any EvictionPolicy)? {
        switch self {
        case .lru: LRUPolicy(limit: limit)
        case .sieve: SIEVEPolicy(limit: limit)
        case .s3fifo: S3FIFOPolicy(limit: limit)
        case .wtinylfu: WTinyLFUPolicy(limit: limit)
        case .opt: nil
        }
    }
}
