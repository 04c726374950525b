extension UnsafeRawBufferPointer {
    /// Whether both hold the same bytes; eight are compared in a step.
    @inline(__always)
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var place = 0
        while place + 8 <= count {
            let left = loadUnaligned(fromByteOffset: place, as: UInt64.self)
            if left != other.loadUnaligned(fromByteOffset: place, as: UInt64.self) { return false }
            place += 8
        }
        while place < count {
            if self[place] != other[place] { return false }
            place += 1
        }
        return true
    }
}
