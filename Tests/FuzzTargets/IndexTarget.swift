import StorageEngine

/// Arbitrary bytes in a closed index that is trusted.
///
/// The first byte has the kind of archive (bits 0, 1), and whether the clean mark is valid (bit 2 clear) or absent.
/// Changes follow: one byte for the area, two for the offset, one for the length up to 15, and the bytes.
package struct IndexTarget: FuzzTarget {
    package static let name = "index"
    private let store: FuzzStore
    private let samples: [Sample]

    package init() throws {
        store = try FuzzStore()
        samples = try [ArchiveKind.cache, .collection, .log].map { try Sample($0) }
    }

    package mutating func run(_ input: [UInt8]) throws -> String? {
        var cursor = InputCursor(input)
        let flags = cursor.byte()
        let sample = samples[Int(flags & 3) % 3]
        var files = sample.files
        guard var index = files["index"] else { return "the sample has no index" }
        while !cursor.isAtEnd {
            // Areas in use: header, process table, live frames, rings, undo table, entries, buckets.
            let bases = [192, 448, 4_096, 12_288, 45_056, 110_592, 241_664, 262_144, 262_144 + 65_536]
            let base = bases[Int(cursor.byte()) % bases.count]
            let span = base < 1_000 ? 560 : base < 262_144 ? 4_096 : base == 262_144 ? 64 * 48 : 20_480
            let offset = base + cursor.number(bytes: 2) % span
            let bytes = cursor.take(Int(cursor.byte() & 15))
            index.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        }
        files["index"] = index
        try store.set(files)
        try store.adoptIndex(isMarked: flags & 4 == 0)
        let visit = Visit(store)
        let seen = visit.look(mode: .readOnly, trusting: true) ?? [:]
        for (key, value) in seen where Int(key.dropFirst(4)).map({ Sample.value($0) == value }) != true {
            return "\(key) has a value that is not its own"
        }
        visit.use(trusting: true)
        visit.look(mode: .readWrite, trusting: true)
        store.removeIndex()
        visit.look(mode: .readWrite)
        return visit.failure
    }

    package static func seeds() throws -> [[UInt8]] {
        var seeds: [[UInt8]] = [[0], [1], [2], [4]]
        for place in UInt8(0)..<9 {
            for kind in UInt8(0)..<3 {
                seeds.append(
                    [kind | place % 2 << 2, place, place &* 8, 0, 8] + [UInt8](repeating: 1, count: 8))
            }
        }
        return seeds
    }
}
