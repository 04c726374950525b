extension String {
    /// The text's UTF-8, copied only if it isn't stored as such. `withUTF8` would need a copy of the string.
    @inline(__always)
    func withRawUTF8(_ body: (UnsafeRawBufferPointer) -> Void) {
        let isDone: Void? = utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
        if isDone != nil { return }
        var copy = self
        copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether both have the same bytes. Compares eight bytes per step.
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
