/// Numbered batches, and a check of what a reader finds. Each batch stores its number under all keys, and leaves one
/// of two keys, depending on whether the number is even. So a reader that has found the mark of a batch must not
/// find an older batch under another key afterwards.
package struct NumberedBatches {
    package static let keys = (0..<12).map { "numbered \($0)" }
    package static let even = "even"
    package static let odd = "odd"
    package static let all = keys + [even, odd]

    /// The changes of a batch; without a value a key is deleted.
    package static func changes(_ number: UInt64) -> [(key: String, value: [UInt8]?)] {
        keys.enumerated().map { (key: $1, value: value(number, size: 8 + $0 * 40)) } + [
            (key: number % 2 == 0 ? even : odd, value: value(number, size: 20)),
            (key: number % 2 == 0 ? odd : even, value: nil),
        ]
    }

    package static func value(_ number: UInt64, size: Int) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
            + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
    }

    /// The lowest batch number that the value of `key` allows, at least `least`; `nil` if impossible.
    package static func least(
        _ key: String, found: UInt64?, atLeast least: UInt64
    ) -> UInt64? {
        guard let found else {
            // Without the entry of even batches, the last batch is an odd one, and vice versa.
            guard key == even || key == odd else { return least == 0 ? 0 : nil }
            let parity: UInt64 = key == even ? 1 : 0
            return least == 0 ? 0 : least % 2 == parity ? least : least + 1
        }
        guard found >= least else { return nil }
        return found
    }

    /// Reads all keys in the given order. Returns a complaint, or the number that was seen last.
    package static func look(
        _ order: [String], atLeast start: UInt64, _ peek: (String) throws -> UInt64?
    ) rethrows -> (number: UInt64, complaint: String?) {
        var number = start
        for key in order {
            let found = try peek(key)
            guard let next = least(key, found: found, atLeast: number) else {
                return (number, "\(found.map { "\($0)" } ?? "nothing") under \(key) after \(number)")
            }
            number = next
        }
        return (number, nil)
    }

    /// The number in a value; 1 << 63 for an incomplete value.
    package static func number(_ value: UnsafeRawBufferPointer) -> UInt64 {
        guard value.count >= 8, value[8...].allSatisfy({ $0 == value[0] }) else { return 1 << 63 }
        return UInt64(littleEndian: value.loadUnaligned(as: UInt64.self))
    }
}
