/// Sizes in bytes: `10.megaBytes`. A kilobyte has 1,024 bytes here, as in the memory that a size usually budgets.
extension Int {
    /// Kilobytes of 1,024 bytes.
    public var kiloByte: Int { scaled(by: 1 << 10) }
    /// The same as ``kiloByte``.
    public var kiloBytes: Int { kiloByte }
    /// Megabytes of 1,024 kilobytes.
    public var megaByte: Int { scaled(by: 1 << 20) }
    /// The same as ``megaByte``.
    public var megaBytes: Int { megaByte }

    /// A size that no memory has is the largest one, not an overflow.
    private func scaled(by unit: Int) -> Int {
        let (size, isTooLarge) = multipliedReportingOverflow(by: unit)
        return isTooLarge ? (self < 0 ? .min : .max) : size
    }
}
