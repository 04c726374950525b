/// The order of texts: by scalars in normal form C, in which canonically equivalent texts are equal. (Swift's `<` compares
/// lengths if one text begins with the other in another form, which is no order for sorts.)
enum TextOrder {
    /// Negative if `left` is first, positive if `right` is. Mostly costs one comparison of bytes.
    static func compare(_ left: String, _ right: String) -> Int {
        order(of: left, right) ?? byCharacters(MarkOrder.string(left), MarkOrder.string(right))
    }

    /// For stored texts; bytes other than UTF-8 are compared as Swift reads them.
    static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        byBytes(left, right) ?? byCharacters(MarkOrder.string(left), MarkOrder.string(right))
    }

    @inline(__always)
    private static func order(of left: String, _ right: String) -> Int? {
        let order = left.utf8.withContiguousStorageIfAvailable { left in
            right.utf8.withContiguousStorageIfAvailable { right in
                byBytes(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
            }
        }
        return order.flatMap { $0 }.flatMap { $0 }
    }

    /// The order if the first different scalars decide it; else `nil`.
    private static func byBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int? {
        let place = commonBytes(left, right)
        if place == left.count, place == right.count { return 0 }
        let start = scalarStart(left, right, place)
        guard decides(left, at: start), decides(right, at: start) else { return nil }
        guard place < left.count else { return -1 }
        return place < right.count ? Int(left[place]) - Int(right[place]) : 1
    }

    /// Whether the text after `start` begins with a scalar that normal form C neither changes nor joins.
    @inline(__always)
    private static func decides(_ text: UnsafeRawBufferPointer, at start: Int) -> Bool {
        guard start < text.count else { return true }
        guard let next = endOfSingle(text, at: start) else { return false }
        return next == text.count || endOfSingle(text, at: next) != nil
    }

    /// The length of the common prefix. Compares eight bytes at a time.
    private static func commonBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let count = min(left.count, right.count)
        var place = 0
        while place + 8 <= count {
            let difference =
                left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                ^ right.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            if difference != 0 { return place + difference.littleEndian.trailingZeroBitCount / 8 }
            place += 8
        }
        while place < count, left[place] == right[place] { place += 1 }
        return place
    }

    /// The start of the scalar that contains the first difference, or ends at it.
    private static func scalarStart(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ place: Int
    ) -> Int {
        func continues(_ text: UnsafeRawBufferPointer, _ place: Int) -> Bool {
            place < text.count && text[place] & 0xc0 == 0x80
        }
        guard continues(left, place) || continues(right, place) else { return place }
        var start = place
        while start > 0 {
            start -= 1
            if !continues(left, start) { break }
        }
        return start
    }

    /// The end of the scalar at `start`, if it is valid and normal form C never changes it.
    @inline(__always)
    private static func endOfSingle(_ text: UnsafeRawBufferPointer, at start: Int) -> Int? {
        if text[start] < 0x80 { return start + 1 }
        guard let (scalar, end) = UTF8Text.scalar(text, at: start), isSingle(scalar) else { return nil }
        return end
    }

    /// Scalars of class 0 that neither compose with previous ones nor decompose (`NFC_Quick_Check=Yes`, UAX 15, 9).
    private static func isSingle(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x80..<0x300, 0x388...0x482, 0x48a...0x52f, 0x531...0x556, 0x561...0x586: true
        case 0x5d0...0x5ea, 0x620...0x64a, 0x671...0x6d3, 0x904...0x939, 0xe01...0xe30: true
        case 0x1e00...0x1f70, 0x2010...0x2027, 0x2030...0x205e, 0x20a0...0x20c0: true
        case 0x2190...0x2328, 0x232b...0x2adb, 0x3001...0x3029, 0x3041...0x3096: true
        case 0x30a1...0x30fc, 0x3400...0x9fff, 0xac00...0xd7a3, 0xff01...0xffee: true
        case 0x1f000...0x1faff: true
        default: false
        }
    }

    // MARK: Composed text

    /// Continues from the last single scalar before the first difference: nothing joins across its beginning.
    private static func byCharacters(_ left: String, _ right: String) -> Int {
        var (left, right) = (left, right)
        let start = left.withUTF8 { left in
            right.withUTF8 { right in
                lastSingle(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
            }
        }
        return byCharacters(
            left[left.utf8.index(left.startIndex, offsetBy: start)...],
            right[right.utf8.index(right.startIndex, offsetBy: start)...])
    }

    private static func lastSingle(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        var start = scalarStart(left, right, commonBytes(left, right))
        while start > 0 {
            start -= 1
            if left[start] & 0xc0 != 0x80, endOfSingle(left, at: start) != nil { return start }
        }
        return 0
    }

    private static func byCharacters(_ left: Substring, _ right: Substring) -> Int {
        var (a, b) = (left.startIndex, right.startIndex)
        while a < left.endIndex, b < right.endIndex, left[a] == right[b] {
            left.formIndex(after: &a)
            right.formIndex(after: &b)
        }
        guard a < left.endIndex else { return b < right.endIndex ? -1 : 0 }
        guard b < right.endIndex else { return 1 }
        // The appended NUL is a character, so neither rest is a prefix of the other, and Swift's order is right.
        return left[a...] + "\0" < right[b...] + "\0" ? -1 : 1
    }
}
