import CPlatform

/// Keys that S3-FIFO evicted from the small queue, as fingerprints: 111 sets of eight in each chunk. A view of the mapped index,
/// through a write lock guard. OnDiskFormat, "Queues".
///
/// A set has its latest fingerprint first. A fingerprint counts until nine tenths of the limit were evicted after it. A wrong or lost
/// one only moves an entry to the other queue.
struct GhostTable {
    private let index: ChangingIndex

    @inline(__always) fileprivate init(_ index: ChangingIndex) { self.index = index }

    private static let epochs: UInt32 = 32
    /// Epochs of nine tenths of the limit.
    private static let counting: UInt32 = 8

    private func set(of tag: UInt32) -> UnsafeMutableRawPointer? {
        let sets = Int(index.entryCapacity) / IndexLayout.chunkEntries * IndexLayout.ghostSets
        return index.memory.ghostAddress(Int((UInt64(tag &* 0x9E37_79B1) * UInt64(sets)) >> 32))
    }

    /// Eleven bits of the key's hash, never 0, above five of the epoch.
    private func cell(_ tag: UInt32, epoch: UInt32) -> UInt64 {
        UInt64(max(1, tag & 0x7ff) << 5 | epoch % GhostTable.epochs)
    }

    func add(_ tag: UInt32, bytes: Int) {
        guard let set = set(of: tag) else { return }
        let (first, second) = (cp_relaxed64(set), cp_relaxed64(set + 8))
        cp_relaxed_store64(set + 8, second << 16 | first >> 48)
        cp_relaxed_store64(set, first << 16 | cell(tag, epoch: index.ghostEpoch))
        let sum = index.ghostBytes + bytes
        let part = max(1, Int(clamping: (index.diskLimit ?? .max) / 10 * 9 / UInt64(GhostTable.counting)))
        index.setGhostEpoch(index.ghostEpoch &+ UInt32(truncatingIfNeeded: sum / part))
        index.setGhostBytes(sum % part)
    }

    /// Whether the key was evicted recently; removes its fingerprint.
    func remove(_ tag: UInt32) -> Bool {
        guard let set = set(of: tag) else { return false }
        for word in [set, set + 8] {
            let cells = cp_relaxed64(word)
            for shift in stride(from: UInt64(0), to: 64, by: 16) where cells >> shift & 0xffff != 0 {
                let cell = cells >> shift & 0xffff
                let age = (index.ghostEpoch &- UInt32(cell & 31)) % GhostTable.epochs
                guard cell >> 5 == UInt64(max(1, tag & 0x7ff)), age <= GhostTable.counting else { continue }
                cp_relaxed_store64(word, cells & ~(0xffff << shift))
                return true
            }
        }
        return false
    }

    func clear() {
        for place in 0..<Int(index.entryCapacity) / IndexLayout.chunkEntries * IndexLayout.ghostSets {
            guard let set = index.memory.ghostAddress(place) else { return }
            cp_relaxed_store64(set, 0)
            cp_relaxed_store64(set + 8, 0)
        }
    }
}

extension ChangingIndex {
    @inline(__always) var ghosts: GhostTable { GhostTable(self) }
}
