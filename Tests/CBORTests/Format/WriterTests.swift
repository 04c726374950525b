import TestSupport
import CBOR
import Testing

@Suite("Writer") struct WriterTests {
    @Test(
        "heads take the fewest bytes",
        arguments: [
            (0, "00"), (23, "17"), (24, "1818"), (255, "18ff"), (256, "190100"), (65535, "19ffff"),
            (65536, "1a00010000"), (0xffff_ffff, "1affffffff"), (0x1_0000_0000, "1b0000000100000000"),
            (.max, "1bffffffffffffffff"),
        ] as [(UInt64, String)])
    func heads(number: UInt64, expected: String) throws {
        #expect(hex(CBORValue.unsigned(number).encoded) == expected)
        let negative = CBORValue.negative(number).encoded
        #expect(hex([negative[0] & 0x1f] + negative.dropFirst()) == expected)
        #expect(negative[0] & 0xe0 == 0x20)
        #expect(try CBORReader.decode(negative) == .negative(number))
    }

    @Test("signed integers are written as unsigned or negative items") func signed() {
        for (number, expected) in [
            (0, "00"), (-1, "20"), (-24, "37"), (-25, "3818"), (Int64.max, "1b7fffffffffffffff"),
            (Int64.min, "3b7fffffffffffffff"),
        ] as [(Int64, String)] {
            var writer = CBORWriter()
            writer.write(integer: number)
            #expect(hex(writer.bytes) == expected)
            #expect(CBORValue(integer: number).encoded == writer.bytes)
            #expect(CBORValue(integer: number).asInt64 == number)
        }
    }

    @Test("every half precision number keeps its bits") func halves() throws {
        for bits in UInt16.min...UInt16.max {
            let input: [UInt8] = [0xf9, UInt8(bits >> 8), UInt8(bits & 0xff)]
            let value = try CBORReader.decode(input)
            if value.encoded != input { Issue.record("\(hex(input)) became \(hex(value.encoded))") }
            let wide: [UInt8] = [0xfb] + Self.bigEndian(value.asDouble?.bitPattern ?? 0)
            if try CBORReader.decode(wide) != value { Issue.record("\(hex(wide)) is not \(hex(input))") }
        }
    }

    /// The processor widens numbers other than NaN correctly.
    @Test("single precision numbers are written in the narrowest exact width") func singles() throws {
        var generator = SeededGenerator.announced("singles")
        for _ in 0..<20_000 {
            let number = Float(bitPattern: UInt32(truncatingIfNeeded: generator.next()))
            let value = try CBORReader.decode([0xfa] + Self.bigEndian(number.bitPattern))
            let encoded = value.encoded
            if number.isNaN {
                #expect(value.asDouble?.isNaN == true)
            } else {
                #expect(value.asDouble == Double(number))
            }
            #expect(try CBORReader.decode(encoded) == value)
            #expect(encoded.count == 5 || encoded.count == 3)
            if encoded.count == 5 { #expect(encoded == [0xfa] + Self.bigEndian(number.bitPattern)) }
        }
    }

    @Test(
        "floats are written in the narrowest exact width",
        arguments: [
            ("f93c01", 1 + 0x1p-10), ("fa3f801000", 1 + 0x1p-11), ("f97bff", 65504), ("fa477ff000", 65520),
            ("f90001", 0x1p-24), ("fa33000000", 0x1p-25), ("fa33c00000", 0x1.8p-24),
            ("fb3ff0000010000000", 1 + 0x1p-24),
            ("fa00000001", 0x1p-149), ("fb3690000000000000", 0x1p-150), ("fb47f0000000000000", 0x1p128),
        ] as [(String, Double)])
    func widths(expected: String, number: Double) {
        #expect(hex(CBORValue.float(number).encoded) == expected)
        let negative = CBORValue.float(-number).encoded
        #expect(hex([negative[0], negative[1] ^ 0x80] + negative.dropFirst(2)) == expected)
    }

    @Test(
        "the payload of a NaN is kept",
        arguments: [
            "f97e01", "f97c01", "fa7f800001", "faffc00001", "fb7ff0000000000001", "fbfff8000000000001",
        ])
    func nan(text: String) throws {
        let value = try CBORReader.decode(bytes(hex: text))
        #expect(value.asDouble?.isNaN == true)
        #expect(hex(value.encoded) == text)
    }

    @Test("items written one by one equal the value written at once") func pieces() throws {
        var writer = CBORWriter(capacity: 64)
        writer.beginMap(count: 2)
        writer.write("list")
        writer.beginArray(count: 8)
        writer.write(integer: -1)
        writer.write(unsigned: 2)
        writer.write(negative: 2)
        writer.write(0.5)
        writer.write(true)
        writer.writeNull()
        writer.writeUndefined()
        writer.write(try #require(CBORSimpleValue(rawValue: 99)))
        writer.write(tag: 5)
        writer.write(bytes: [1, 2] as [UInt8])
        [UInt8(3)].withUnsafeBytes { writer.write(bytes: $0) }
        let simple = CBORValue.simple(try #require(CBORSimpleValue(rawValue: 99)))
        let expected: CBORValue = [
            "list": [-1, 2, -3, 0.5, true, nil, .undefined, simple], .tagged(5, .bytes([1, 2])): .bytes([3]),
        ]
        #expect(writer.bytes == expected.encoded)
        #expect(try CBORReader.decode(writer.bytes) == expected)
        writer.removeAll()
        #expect(writer.bytes.isEmpty)
    }

    private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
