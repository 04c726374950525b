/// A frame's segment and offset. Numbers are never reused: it names the same bytes or nothing (F7). OnDiskFormat, "Locations".
struct Location: Hashable, Comparable, CustomStringConvertible, Sendable {
    let raw: UInt64

    static let none = Location(raw: 0)
    static let last = Location(raw: .max)

    @inline(__always) init(raw: UInt64) { self.raw = raw }

    @inline(__always) init(segment: UInt32, offset: Int) {
        raw = UInt64(segment) << 32 | UInt64(UInt32(truncatingIfNeeded: offset >> 3))
    }

    @inline(__always) var segment: UInt32 { UInt32(raw >> 32) }
    @inline(__always) var offset: Int { Int(raw & 0xffff_ffff) << 3 }

    @inline(__always) static func < (left: Location, right: Location) -> Bool { left.raw < right.raw }

    var description: String { "byte \(offset) of \(SegmentHeader.fileName(segment))" }

    @inline(__always)
    func advanced(by bytes: Int) -> Location { Location(segment: segment, offset: offset + bytes) }
}
