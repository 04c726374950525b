/// Sizes in bytes: `10.megaBytes`. A kilobyte is 1,024 bytes, as is usual for memory.
extension Int {
    /// Bytes.
    public var bytes: Int { self }
    /// Kilobytes of 1,024 bytes.
    public var kiloByte: Int { scaled(by: 1 << 10) }
    /// The same as ``kiloByte``.
    public var kiloBytes: Int { kiloByte }
    /// Megabytes of 1,024 kilobytes.
    public var megaByte: Int { scaled(by: 1 << 20) }
    /// The same as ``megaByte``.
    public var megaBytes: Int { megaByte }
    /// Gigabytes of 1,024 megabytes.
    public var gigaByte: Int { scaled(by: 1 << 30) }
    /// The same as ``gigaByte``.
    public var gigaBytes: Int { gigaByte }

    /// Saturates at the largest size instead of overflowing.
    private func scaled(by unit: Int) -> Int {
        let (size, isTooLarge) = multipliedReportingOverflow(by: unit)
        return isTooLarge ? (self < 0 ? .min : .max) : size
    }
}

/// Sizes in bytes, rounded up: `1.5.megaBytes`.
extension Double {
    /// Bytes.
    public var bytes: Int { scaled(by: 1) }
    /// Kilobytes of 1,024 bytes.
    public var kiloByte: Int { scaled(by: 1 << 10) }
    /// The same as ``kiloByte``.
    public var kiloBytes: Int { kiloByte }
    /// Megabytes of 1,024 kilobytes.
    public var megaByte: Int { scaled(by: 1 << 20) }
    /// The same as ``megaByte``.
    public var megaBytes: Int { megaByte }
    /// Gigabytes of 1,024 megabytes.
    public var gigaByte: Int { scaled(by: 1 << 30) }
    /// The same as ``gigaByte``.
    public var gigaBytes: Int { gigaByte }

    private func scaled(by unit: Int) -> Int {
        let size = (self * Double(unit)).rounded(.up)
        return Int(exactly: size) ?? (size < 0 ? .min : size.isNaN ? 0 : .max)
    }
}
