/// Segments that stay mapped as long as this object, so their content stays readable. Immutable once shared: thread-safe.
final class PinnedSegments: @unchecked Sendable {
    private let log: SegmentLog
    private(set) var pins: [UInt32: SegmentLog.Pin] = [:]
    /// Segments that are completely mapped and no longer grow.
    private var complete: Set<UInt32> = []

    init(_ log: SegmentLog) { self.log = log }

    deinit { for pin in pins.values { log.unpin(pin) } }

    func add(_ segment: UInt32) throws(StorageError) -> Bool {
        if pins[segment] != nil { return true }
        guard let pin = try log.pinIfPresent(segment) else { return false }
        pins[segment] = pin
        return true
    }

    /// Maps bytes that other processes appended up to `end`. `false` if a file was unlinked, so its size is unknown.
    func updateSizes(upTo end: Location) throws(StorageError) -> Bool {
        for (segment, pin) in pins where !complete.contains(segment) {
            guard try log.updateSize(pin) else { return false }
            if segment < end.segment { complete.insert(segment) }
        }
        return true
    }

    func keep(only needed: Set<UInt32>) {
        for (segment, pin) in pins where !needed.contains(segment) {
            log.unpin(pin)
            pins[segment] = nil
        }
    }

    var bytes: Int { pins.values.reduce(0) { $0 + log.view($1).bytes } }

    func frame(at location: Location) -> Frame? {
        guard let pin = pins[location.segment] else { return nil }
        return log.validFrame(pin, at: location.offset)
    }

    /// The frames between two locations of the log, in order; `nil` if one of them can't be read.
    func frames(
        from begin: Location, to end: Location
    ) throws(StorageError) -> [(frame: Frame, location: Location)]? {
        var frames: [(frame: Frame, location: Location)] = []
        for number in pins.keys.sorted() where number >= begin.segment && number <= end.segment {
            guard let pin = pins[number] else { return nil }
            var place = Location(
                segment: number, offset: number == begin.segment ? begin.offset : SegmentHeader.bytes)
            while place < end, let frame = log.validFrame(pin, at: place.offset) {
                frames.append((frame, place))
                place = place.advanced(by: frame.bytes)
            }
            guard number == end.segment ? place == end : log.view(pin).isBlank(from: place.offset) else {
                return nil
            }
        }
        return pins[end.segment] == nil ? nil : frames
    }

    /// The frame at a location; only its lengths are checked.
    func uncheckedFrame(at location: Location) -> Frame? {
        pins[location.segment].flatMap { log.frame($0, at: location.offset) }
    }
}
