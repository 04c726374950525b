/// Sizes in bytes: `10.megaBytes`. A kilobyte has 1,024 bytes here, as in the memory that a size usually budgets.
extension Int {
    public var bytes: Int { self }
    public var kiloByte: Int { scaled(by: 1 << 10) }
    public var kiloBytes: Int { kiloByte }
    public var megaByte: Int { scaled(by: 1 << 20) }
    public var megaBytes: Int { megaByte }
    public var gigaByte: Int { scaled(by: 1 << 30) }
    public var gigaBytes: Int { gigaByte }

    /// A size that no memory has is the largest one, not an overflow.
    private func scaled(by unit: Int) -> Int {
        let (size, isTooLarge) = multipliedReportingOverflow(by: unit)
        return isTooLarge ? (self < 0 ? .min : .max) : size
    }
}

/// Sizes in bytes, rounded up: `1.5.megaBytes`.
extension Double {
    public var bytes: Int { scaled(by: 1) }
    public var kiloByte: Int { scaled(by: 1 << 10) }
    public var kiloBytes: Int { kiloByte }
    public var megaByte: Int { scaled(by: 1 << 20) }
    public var megaBytes: Int { megaByte }
    public var gigaByte: Int { scaled(by: 1 << 30) }
    public var gigaBytes: Int { gigaByte }

    private func scaled(by unit: Int) -> Int {
        let size = (self * Double(unit)).rounded(.up)
        return Int(exactly: size) ?? (size < 0 ? .min : size.isNaN ? 0 : .max)
    }
}
