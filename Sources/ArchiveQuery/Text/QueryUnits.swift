/// The units of durations and sizes, as the command line's options have them: decimal `KB`, binary `KiB`.
enum QueryUnits {
    /// In microseconds, the largest first.
    static let durations: [(name: String, size: Int128)] = [
        ("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1000),
    ]
    /// In bytes, by their names in capitals; the largest first.
    static let sizes: [(name: String, size: Int128)] = [
        ("TIB", 1 << 40), ("TB", 1_000_000_000_000), ("GIB", 1 << 30), ("GB", 1_000_000_000),
        ("MIB", 1 << 20), ("MB", 1_000_000), ("KIB", 1 << 10), ("KB", 1000), ("B", 1),
    ]

    /// A number with or without a fraction, times `unit`; nil unless that is an integer of at most 100 bits.
    static func multiply(_ number: String, _ unit: Int128) -> Int128? {
        guard number.utf8.count <= 24, !number.contains(where: { $0 == "e" || $0 == "E" }) else { return nil }
        let parts = number.split(separator: ".")
        let fraction = parts.count == 2 ? parts[1] : ""
        guard let digits = Int128(parts[0] + fraction) else { return nil }
        let (product, overflow) = digits.multipliedReportingOverflow(by: unit)
        let scale = (0..<fraction.count).reduce(1 as Int128) { power, _ in power * 10 }
        return overflow || product % scale != 0 ? nil : product / scale
    }
}
