/// When an entry expires, as stored in frames; the index has a time on the boot clock. OnDiskFormat, "Deadlines".
struct Deadline: Equatable {
    static let bytes = 32
    static let never: Int64 = 0

    /// Microseconds since 1970.
    var wall: Int64
    /// Microseconds from the time of writing to the expiry time.
    var interval: Int64
    /// Microseconds on the boot clock of the boot that `bootMark` names.
    var boot: Int64
    var bootMark: UInt64

    /// The date of an expiry time on the boot clock; `nil`: never.
    static func date(atBoot boot: Int64) -> Timestamp? {
        boot == never ? nil : Timestamp(microseconds: Clock.wall(atBoot: boot))
    }

    init(boot: Int64, now: Clock.Reading) {
        self.boot = boot
        interval = max(0, boot.subtractingSaturating(now.boot))
        wall = now.wall.addingSaturating(boot.subtractingSaturating(now.boot))
        bootMark = BootIdentity.mark
    }

    init(_ bytes: UnsafeRawBufferPointer) {
        wall = bytes.loadUnaligned(fromByteOffset: 0, as: Int64.self)
        interval = bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)
        boot = bytes.loadUnaligned(fromByteOffset: 16, as: Int64.self)
        bootMark = bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
    }

    func write(to buffer: UnsafeMutableRawBufferPointer) {
        buffer.storeBytes(of: wall, toByteOffset: 0, as: Int64.self)
        buffer.storeBytes(of: interval, toByteOffset: 8, as: Int64.self)
        buffer.storeBytes(of: boot, toByteOffset: 16, as: Int64.self)
        buffer.storeBytes(of: bootMark, toByteOffset: 24, as: UInt64.self)
    }

    /// The expiry time on this boot's clock. After a restart the wall clock determines the rest, at most the whole interval.
    func resolved(now: Clock.Reading) -> Int64 {
        if bootMark == BootIdentity.mark, bootMark != 0 { return max(1, boot) }
        let left = min(max(0, wall.subtractingSaturating(now.wall)), max(0, interval))
        return max(1, now.boot.addingSaturating(left))
    }

    /// Converts an expiry time on the clock of a former boot, of which `reading` is known, as if it was read from a frame.
    static func boot(_ former: Int64, from reading: Clock.Reading, now: Clock.Reading) -> Int64 {
        guard former != never else { return never }
        var deadline = Deadline(boot: former, now: reading)
        deadline.bootMark = 0
        return deadline.resolved(now: now)
    }

    /// The expiry time on the boot clock, in microseconds, of an entry stored now.
    static func boot(in lifetime: Duration?) -> Int64 {
        guard let lifetime else { return never }
        return max(1, Clock.boot().addingSaturating(lifetime.clampedMicroseconds))
    }
}
