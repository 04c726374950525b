enum Hexadecimal {
    /// The ASCII digit of a number from 0 to 15.
    static func digit(_ number: UInt8) -> UInt8 {
        number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "a") + number - 10
    }

    static func append(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        for byte in bytes {
            output.append(digit(byte >> 4))
            output.append(digit(byte & 0xf))
        }
    }
}
