/// A request of a sampled key: OnDiskFormat, "The request trace".
package struct SampledRequest: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        case hit = 1
        /// A hit in a process's memory.
        case memoryHit
        case miss
        case put
        /// A put of an object that only a process's memory holds.
        case memoryPut
        case delete
        case expiry
        /// A change of the entry's expiry time.
        case deadline
        /// A deletion of all entries; has no tag.
        case deleteAll
        /// An undo restored the entry.
        case restore
        /// A change of the disk limit or of the eviction policy; has no tag.
        case resize
    }

    /// Position in the trace, counted from 0.
    package var number: UInt64
    package var kind: Kind
    /// Microseconds since 1970.
    package var time: Int64
    /// The low 32 bits of the key's hash in the present index.
    package var tag: UInt32
    /// Hash of the owner's name; 0: none, or unknown.
    package var owner: UInt32
    /// Size of the value, or of the object in memory, in bytes; 0: none, or unknown.
    package var bytes: Int
    /// Seconds from ``time`` until the entry expires, rounded up; `nil`: never. 2^32 - 1: at least that many.
    package var expiry: UInt32?
    /// Tags below this were sampled at that time; 2^32: all keys.
    package var threshold: UInt64

    private static let timeBits: UInt64 = 52
    private static let shiftBits: UInt64 = 6

    init(
        _ kind: Kind, tag: UInt32, owner: UInt32 = 0, bytes: Int = 0, deadline: Int64 = Deadline.never,
        threshold: UInt64
    ) {
        (number, self.kind, self.tag, self.owner, self.bytes) = (0, kind, tag, owner, bytes)
        time = Clock.wall()
        self.threshold = threshold
        if deadline != Deadline.never {
            let left = max(1, deadline.subtractingSaturating(Clock.boot()))
            expiry = UInt32(clamping: (left - 1) / 1_000_000 + 1)
        }
    }

    /// `nil` for an unknown kind.
    init?(number: UInt64, tag: UInt32, owner: UInt32, bytes: UInt32, expiry: UInt32, packed: UInt64) {
        guard let kind = Kind(rawValue: UInt8(packed >> (Self.timeBits + Self.shiftBits))) else { return nil }
        (self.number, self.kind, self.tag, self.owner) = (number, kind, tag, owner)
        self.bytes = Int(bytes)
        self.expiry = expiry == 0 ? nil : expiry
        time = Int64(packed & (1 << Self.timeBits - 1))
        threshold = 1 << (32 - min(32, packed >> Self.timeBits & (1 << Self.shiftBits - 1)))
    }

    /// The fields of a cell.
    var words: (tag: UInt32, owner: UInt32, bytes: UInt32, expiry: UInt32, packed: UInt64) {
        let time = UInt64(max(0, time)) & (1 << Self.timeBits - 1)
        let packed =
            time | UInt64(Self.shift(ofThreshold: threshold)) << Self.timeBits
            | UInt64(kind.rawValue) << (Self.timeBits + Self.shiftBits)
        return (tag, owner, UInt32(clamping: bytes), expiry ?? 0, packed)
    }

    /// The exponent *k* of a threshold 2^32 / 2^k, 0 to 32. A damaged index may have any threshold.
    static func shift(ofThreshold threshold: UInt64) -> Int {
        min(32, max(0, threshold.leadingZeroBitCount - 31))
    }
}
