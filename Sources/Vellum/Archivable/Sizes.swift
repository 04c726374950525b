/// Sizes in bytes: `10.megaBytes`. A kilobyte is 1,024 bytes, as is usual for memory.
extension Int {
    /// The number itself.
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
