enum Hexadecimal {
    /// The ASCII digit of a number from 0 to 15.
    static func digit(_ number: UInt8) -> UInt8 {
        number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "a") + number - 10
    }

    /// The number of an ASCII digit in either case.
    static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    static func append(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        for byte in bytes {
            output.append(digit(byte >> 4))
            output.append(digit(byte & 0xf))
        }
    }
}
