import ArgumentParser

/// Sendable value type. A size in bytes as a person writes it: `20MB`, `64KiB`, `1.5GB`, `4096`.
struct ByteCount: Sendable, Hashable, ExpressibleByArgument {
    let bytes: UInt64

    private static let units: [(String, UInt64)] = [
        ("KIB", 1 << 10), ("MIB", 1 << 20), ("GIB", 1 << 30), ("TIB", 1 << 40),
        ("KB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000), ("B", 1),
    ]

    /// Digits, perhaps with a fraction, and a unit in either case: none or `B`, decimal `kB MB GB TB`, binary
    /// `KiB MiB GiB TiB`. Nil for anything else, for 0, for part of a byte and beyond 64 bits.
    init?(argument: String) {
        var digits = argument.uppercased()
        var scale: UInt64 = 1
        if let (suffix, unit) = Self.units.first(where: { digits.hasSuffix($0.0) }) {
            digits.removeLast(suffix.count)
            if digits.last == " " { digits.removeLast() }
            scale = unit
        }
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = Self.number(parts[0]) else { return nil }
        var (bytes, isTooLarge) = whole.multipliedReportingOverflow(by: scale)
        if parts.count == 2 {
            guard parts[1].count <= 6, let fraction = Self.number(parts[1]) else { return nil }
            let one = (0..<parts[1].count).reduce(1 as UInt64) { power, _ in power * 10 }
            let (scaled, overflows) = fraction.multipliedReportingOverflow(by: scale)
            guard !overflows, scaled % one == 0 else { return nil }
            let (sum, sumOverflows) = bytes.addingReportingOverflow(scaled / one)
            bytes = sum
            isTooLarge = isTooLarge || sumOverflows
        }
        guard !isTooLarge, bytes > 0 else { return nil }
        self.bytes = bytes
    }

    private static func number(_ digits: Substring) -> UInt64? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt64(digits)
    }
}
