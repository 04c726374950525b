/// An entry's queue, and its accesses since it entered: one byte for each entry. OnDiskFormat, "Queues".
struct QueuePlace: Equatable {
    static let none = QueuePlace(raw: 0)
    static let highestFrequency: UInt8 = 3

    private(set) var raw: UInt8

    init(raw: UInt8) { self.raw = raw }
    init(frequency: UInt8, isSmall: Bool) { raw = frequency & 3 | (isSmall ? 4 : 0) }

    var isSmall: Bool { raw & 4 != 0 }
    var frequency: UInt8 {
        get { raw & 3 }
        set { raw = raw & ~3 | newValue & 3 }
    }
    var isValid: Bool { raw < 8 }
}
