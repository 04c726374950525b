/// Names of keys, which are any bytes, as texts, one to one: a byte that is no UTF-8 becomes the character U+10FF00 and its
/// number, which no key has as such then. Stateless; safe from any thread.
package enum KeyName {
    private static let base: UInt32 = 0x10ff00

    package static func text(_ bytes: some Collection<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: isMark) {
            return text
        }
        var text = String.UnicodeScalarView()
        var rest = Array(bytes)[...]
        while let byte = rest.first {
            let length = 1 + (byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : 0)
            if let scalars = String(validating: rest.prefix(length), as: UTF8.self)?.unicodeScalars,
                scalars.count == 1, !isMark(scalars[scalars.startIndex])
            {
                text.append(contentsOf: scalars)
                rest = rest.dropFirst(length)
            } else {
                if let mark = Unicode.Scalar(base + UInt32(byte)) { text.append(mark) }
                rest = rest.dropFirst()
            }
        }
        return String(text)
    }

    package static func bytes(_ text: String) -> [UInt8] {
        guard text.unicodeScalars.contains(where: isMark) else { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar in
            isMark(scalar) ? [UInt8(scalar.value - base)] : Array(String(scalar).utf8)
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= base }
}
