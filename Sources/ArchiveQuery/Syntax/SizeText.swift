/// Reads and writes sizes in bytes: `20MB`, `64KiB`, `1.5 GB`, `4096`. Units are decimal (`kB` to `TB`)
/// or binary (`KiB` to `TiB`), in either case.
package enum SizeText {
    /// The largest unit first.
    private static let units: [(name: String, size: Int128)] = [
        ("TiB", 1 << 40), ("TB", 1_000_000_000_000), ("GiB", 1 << 30), ("GB", 1_000_000_000),
        ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10), ("kB", 1000), ("B", 1),
    ]

    static func isUnit(_ name: String) -> Bool {
        units.contains { $0.name.uppercased() == name.uppercased() }
    }

    /// Nil for anything else, for fractions of a byte, and beyond 64 bits.
    package static func bytes(_ text: some StringProtocol) -> UInt64? {
        let number = text.prefix { $0 == "." || $0.isASCII && $0.isNumber }
        var name = text.dropFirst(number.count).uppercased()
        if name.first == " " { name.removeFirst() }
        let unit = name.isEmpty ? 1 : units.first { $0.name.uppercased() == name }?.size
        guard let unit, let part = UnitCount(number)?.times(unit), part.product % part.scale == 0
        else { return nil }
        return UInt64(exactly: part.product / part.scale)
    }

    /// The exact size in the largest unit with a whole number.
    package static func text(_ bytes: UInt64) -> String {
        let unit = units.first { bytes != 0 && Int128(bytes) % $0.size == 0 && $0.size > 1 }
        guard let unit else { return "\(bytes)B" }
        return "\(Int128(bytes) / unit.size)\(unit.name)"
    }
}
