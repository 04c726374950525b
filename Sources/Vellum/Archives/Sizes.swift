/// Sizes in bytes: `10.megaBytes`. A kilobyte is 1,024 bytes, as is usual for memory.
extension Int {
    /// Kilobytes of 1,024 bytes.
    public var kiloByte: Int { scaled(by: 1 << 10) }
    /// The same as ``kiloByte``.
    public var kiloBytes: Int { kiloByte }
    /// Megabytes of 1,024 kilobytes.
    public var megaByte: Int { scaled(by: 1 << 20) }
    /// The same as ``megaByte``.
    public var megaBytes: Int { megaByte }

    /// Saturates at the largest size instead of overflowing.
    private func scaled(by unit: Int) -> Int {
        let (size, isTooLarge) = multipliedReportingOverflow(by: unit)
        return isTooLarge ? (self < 0 ? .min : .max) : size
    }
}
