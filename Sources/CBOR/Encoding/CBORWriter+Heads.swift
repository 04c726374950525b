extension CBORWriter {
    /// Writes an initial byte and its argument in the fewest bytes: 1, 2, 3, 5 or 9.
    @inline(__always)
    mutating func writeHead(_ type: MajorType, _ argument: UInt64) {
        if argument < UInt64(AdditionalInformation.oneByte) {
            bytes.append(type.rawValue | UInt8(truncatingIfNeeded: argument))
        } else {
            writeLongHead(type, argument)
        }
    }

    @inline(never)
    private mutating func writeLongHead(_ type: MajorType, _ argument: UInt64) {
        if argument <= 0xff {
            append(type.rawValue | AdditionalInformation.oneByte, UInt8(truncatingIfNeeded: argument))
        } else if argument <= 0xffff {
            append(type.rawValue | AdditionalInformation.twoBytes, UInt16(truncatingIfNeeded: argument))
        } else if argument <= 0xffff_ffff {
            append(type.rawValue | AdditionalInformation.fourBytes, UInt32(truncatingIfNeeded: argument))
        } else {
            append(type.rawValue | AdditionalInformation.eightBytes, argument)
        }
    }

    /// Appends an initial byte and a number in network byte order.
    @inline(__always)
    mutating func append(_ initial: UInt8, _ number: some FixedWidthInteger & UnsignedInteger) {
        bytes.append(initial)
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Begins an item of unknown length, for ``endDeferred(_:at:count:)``. Reserves a byte; above 23 units the content moves.
    @inline(__always)
    mutating func beginDeferred() -> Int {
        bytes.append(0)
        return bytes.count - 1
    }

    /// Writes the head of the item that was begun at `place`, now that its length or count is known.
    @inline(__always)
    mutating func endDeferred(_ type: MajorType, at place: Int, count: Int) {
        if count < Int(AdditionalInformation.oneByte) {
            bytes[place] = type.rawValue | UInt8(truncatingIfNeeded: count)
        } else {
            endLongDeferred(type, at: place, count: count)
        }
    }

    @inline(never)
    private mutating func endLongDeferred(_ type: MajorType, at place: Int, count: Int) {
        var head = CBORWriter(capacity: 9)
        head.writeHead(type, UInt64(count))
        bytes.replaceSubrange(place...place, with: head.bytes)
    }
}
