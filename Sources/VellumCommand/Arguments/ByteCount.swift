import ArchiveQuery

/// A size in bytes: `20MB`, `64KiB`, `1.5GB`, `4096`; not 0.
struct ByteCount: Sendable, Hashable, ExpressibleByArgument {
    let bytes: UInt64

    init?(argument: String) {
        guard let bytes = SizeText.bytes(argument), bytes > 0 else { return nil }
        self.bytes = bytes
    }
}
