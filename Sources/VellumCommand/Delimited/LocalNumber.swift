enum LocalNumber {
    /// The number in JSON's spelling; nil if `field` isn't one with this decimal separator. Thousands are separated by the
    /// other of comma and point, an apostrophe, a space or a no-break space, consistently; no leading zeros.
    static func json(_ field: UnsafeRawBufferPointer, decimal: UInt8) -> [UInt8]? {
        var rest = field[...]
        var number: [UInt8] = []
        if rest.first == UInt8(ascii: "-") { number.append(rest.removeFirst()) }
        var groups = [digits(&rest)]
        var separator: ArraySlice<UInt8>?
        while let found = thousands(rest, decimal), separator == nil || separator == found {
            separator = found
            rest = rest.dropFirst(found.count)
            groups.append(digits(&rest))
        }
        guard let first = groups.first, !first.isEmpty, first == [0x30] || first.first != 0x30 else {
            return nil
        }
        if groups.count > 1 {
            guard first.count <= 3, first != [0x30], groups.dropFirst().allSatisfy({ $0.count == 3 }) else {
                return nil
            }
        }
        number += groups.joined()
        if rest.first == decimal {
            rest = rest.dropFirst()
            let fraction = digits(&rest)
            guard !fraction.isEmpty else { return nil }
            number += [UInt8(ascii: ".")] + fraction
        }
        if groups.count == 1, let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            number.append(rest.removeFirst())
            if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
                number.append(rest.removeFirst())
            }
            let exponent = digits(&rest)
            guard !exponent.isEmpty else { return nil }
            number += exponent
        }
        return rest.isEmpty ? number : nil
    }

    private static func digits(_ rest: inout Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        let digits = Array(rest.prefix { $0 >= 0x30 && $0 <= 0x39 })
        rest = rest.dropFirst(digits.count)
        return digits
    }

    private static let separators: [ArraySlice<UInt8>] = [",", ".", "'", " ", "\u{a0}", "\u{202f}", "’"].map {
        (text: String) in Array(text.utf8)[...]
    }

    /// The thousands separator at the beginning, if there is one.
    private static func thousands(
        _ rest: Slice<UnsafeRawBufferPointer>, _ decimal: UInt8
    ) -> ArraySlice<UInt8>? {
        guard let first = rest.first, first != decimal else { return nil }
        return separators.first { rest.starts(with: $0) }
    }
}
