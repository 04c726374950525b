import CPlatform
import StorageEngine

/// Arbitrary bytes as the frames of a log.
///
/// The first byte has the kind of archive (bits 0, 1), whether lengths and checksums of frames are fixed, so that code
/// behind the checksum is reached (bit 2 clear), and the number of segments (bits 3, 4). The frames follow.
package struct SegmentTarget: FuzzTarget {
    package static let name = "segment"
    private static let most = 48 << 10
    private let store: FuzzStore

    package init() throws { store = try FuzzStore() }

    package mutating func run(_ input: [UInt8]) throws -> String? {
        try store.set(Self.files(of: input))
        let found = Visit(store)
        // An observer replays the log in memory, and must find the same entries as a writer's rebuild.
        let observed = found.look(mode: .readOnly)
        let rebuilt = found.look(mode: .readWrite)
        if let observed, let rebuilt, observed != rebuilt {
            return "an observer lists other entries than a writer"
        }
        found.use()
        found.look(mode: .readOnly)
        store.removeIndex()
        found.look(mode: .readWrite)
        found.repair()
        return found.failure
    }

    /// Files of the archive that an input describes.
    static func files(of input: [UInt8]) -> [String: [UInt8]] {
        let flags = input.first ?? 0
        var frames = Array(input.dropFirst().prefix(most))
        let count = UInt32(flags >> 3 & 3) + 1
        var files = [
            "descriptor": FuzzStore.descriptor(kind: flags & 3 == 0 ? 1 : flags & 3, limit: 1_000_000)
        ]
        for segment in 1...count {
            let share = segment == count ? frames.count : frames.count / Int(count - segment + 1) & ~7
            var bytes = FuzzStore.header(segment: segment, oldest: 1) + frames.prefix(share)
            frames.removeFirst(min(share, frames.count))
            if flags & 4 == 0 { fixFrames(&bytes, segment: segment) }
            bytes += [UInt8](repeating: 0, count: max(0, (64 << 10) - bytes.count))
            files["0000000\(segment).segment"] = bytes
        }
        return files
    }

    /// Turns the bytes into frames where possible. Layout: OnDiskFormat, "Frames".
    private static func fixFrames(_ bytes: inout [UInt8], segment: UInt32) {
        let seed = Checksum.crc32c(FuzzStore.identity + FuzzStore.little(segment))
        var offset = 64
        while offset + 48 <= bytes.count {
            // Lengths that fit.
            bytes[offset + 9] &= 0x03
            let key = Int(bytes[offset + 8]) | Int(bytes[offset + 9]) << 8
            let ext = Int(bytes[offset + 10]) | Int(bytes[offset + 11]) << 8
            let space = (bytes.count - offset) & ~7
            guard 48 + key + ext <= space else { return }
            let claimed = Int(bytes[offset + 4]) | Int(bytes[offset + 5]) << 8 | Int(bytes[offset + 6]) << 16
            let value = claimed % (space - 48 - key - ext + 1)
            for byte in 0..<4 {
                bytes[offset + 4 + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte))
            }
            let length = (48 + key + ext + value + 7) & ~7
            let start = seed &+ UInt32(offset >> 3) &* 0x9E37_79B1
            let sum = bytes.withUnsafeBytes { ~cp_crc32c(~start, $0.baseAddress! + offset + 4, length - 4) }
            bytes.replaceSubrange(offset..<offset + 4, with: FuzzStore.little(sum))
            offset += length
        }
    }

    /// Logs of real archives, of each kind.
    package static func seeds() throws -> [[UInt8]] {
        var seeds: [[UInt8]] = [[0], [4]]
        for kind in [ArchiveKind.cache, .collection, .log] {
            let sample = try Sample(kind)
            let flags = UInt8(kind.rawValue)
            for (name, bytes) in sample.files where name.hasSuffix(".segment") {
                let end = bytes.lastIndex { $0 != 0 } ?? 64
                for share in 0..<2 {
                    seeds.append([flags | UInt8(share) << 3] + bytes[64..<min(bytes.count, end + 9)])
                }
            }
        }
        return seeds
    }
}
