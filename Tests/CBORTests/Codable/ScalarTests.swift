import TestSupport
import CBOR
import Foundation
import Testing

@Suite("Scalars and types with their own forms") struct ScalarTests {
    private func check<Value: Codable & Equatable>(_ value: Value, _ expected: String) throws {
        #expect(hex(try CBOREncoder().encode(value)) == expected)
        #expect(try CBORDecoder().decode(Value.self, from: bytes(hex: expected)) == value)
        // As an array's element, a map's value and an optional.
        #expect(hex(try CBOREncoder().encode([value])) == "81" + expected || Value.self == UInt8.self)
        #expect(try roundTrip(["k": value]) == ["k": value])
        #expect(try roundTrip([value, nil]) == [value, nil])
        #expect(try roundTrip(Holder(a: value, b: nil)) == Holder(a: value, b: nil))
    }

    private struct Holder<Value: Codable & Equatable>: Codable, Equatable {
        var a: Value?
        var b: Value?
    }

    @Test("values encode as in Appendix A of RFC 8949") func appendixA() throws {
        try check(0, "00")
        try check(23, "17")
        try check(24, "1818")
        try check(1000, "1903e8")
        try check(1_000_000_000_000, "1b000000e8d4a51000")
        try check(UInt64.max, "1bffffffffffffffff")
        try check(UInt128(1) << 64, "c249010000000000000000")
        try check(-(Int128(1) << 64), "3bffffffffffffffff")
        try check(-(Int128(1) << 64) - 1, "c349010000000000000000")
        try check(-1, "20")
        try check(Int16(-1000), "3903e7")
        try check(0.0, "f90000")
        try check(1.1, "fb3ff199999999999a")
        try check(65504.0, "f97bff")
        try check(100000.0, "fa47c35000")
        try check(3.4028234663852886e+38, "fa7f7fffff")
        try check(1.0e+300, "fb7e37e43c8800759c")
        try check(5.960464477539063e-8, "f90001")
        try check(-4.1, "fbc010666666666666")
        try check(Double.infinity, "f97c00")
        try check(-Float.infinity, "f9fc00")
        try check(false, "f4")
        try check("", "60")
        try check("\u{fc}", "62c3bc")
        try check("\u{6c34}", "63e6b0b4")
        try check("\u{10151}", "64f0908591")
        try check(Data([1, 2, 3, 4]), "4401020304")
        try check([1, 2, 3], "83010203")
        try check(["a", "b"], "8261616162")
        try check(Date(timeIntervalSince1970: 1_363_896_240), "c11a514b67b0")
        try check(Date(timeIntervalSince1970: 1_363_896_240.5), "c1fb41d452d9ec200000")
        try check(
            URL(string: "http://www.example.com")!, "d82076687474703a2f2f7777772e6578616d706c652e636f6d")
        try check(Decimal(string: "273.15")!, "c48221196ab3")
        try check(
            UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!,
            "d8255000112233445566778899aabbccddeeff")
        #expect(hex(try CBOREncoder().encode(Double.nan)) == "f97e00")
        #expect(try roundTrip(Float.nan).isNaN)
        #expect(try roundTrip(-0.0).sign == .minus)
        #expect(hex(try CBOREncoder().encode(-0.0)) == "f98000")
        #expect(hex(try CBOREncoder().encode(Int?.none)) == "f6")
    }

    @Test("the bounds of every integer type decode equal") func integers() throws {
        func ends<Number: FixedWidthInteger & Codable>(_ type: Number.Type) throws {
            for number in [Number.min, .max, 0, 1, .max - 1, .min + 1] {
                #expect(try roundTrip(number) == number)
                #expect(try roundTrip([number, number]) == [number, number])
            }
        }
        try ends(Int.self)
        try ends(Int8.self)
        try ends(Int16.self)
        try ends(Int32.self)
        try ends(Int64.self)
        try ends(Int128.self)
        try ends(UInt.self)
        try ends(UInt8.self)
        try ends(UInt16.self)
        try ends(UInt32.self)
        try ends(UInt64.self)
        try ends(UInt128.self)
    }

    @Test("floats of any bit pattern decode equal") func floats() throws {
        var generator = SeededGenerator.announced("codec floats")
        for _ in 0..<20_000 {
            let double = Double(bitPattern: generator.next())
            #expect(try roundTrip(double).bitPattern == double.bitPattern)
            let float = Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &generator))
            let same = try roundTrip(float)
            #expect(same == float || same.isNaN && float.isNaN)
        }
    }

    @Test("every date decodes equal") func dates() throws {
        var generator = SeededGenerator.announced("codec dates")
        var dates = [
            Date(), .distantPast, .distantFuture, Date(timeIntervalSince1970: 0),
            Date(timeIntervalSince1970: -0.0),
            Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: -0.0),
            Date(timeIntervalSinceReferenceDate: .leastNonzeroMagnitude),
            Date(timeIntervalSinceReferenceDate: 0x1p-44), Date(timeIntervalSinceReferenceDate: .infinity),
            Date(timeIntervalSinceReferenceDate: .greatestFiniteMagnitude),
            Date(timeIntervalSinceReferenceDate: -.leastNormalMagnitude),
        ]
        for _ in 0..<20_000 {
            dates.append(
                Date(timeIntervalSinceReferenceDate: Double.random(in: -1e10...1e10, using: &generator)))
            dates.append(Date(timeIntervalSinceReferenceDate: Double(bitPattern: generator.next())))
        }
        var forms: Set<String> = []
        for date in dates {
            let bytes = try CBOREncoder().encode(date)
            let same = try CBORDecoder().decode(Date.self, from: bytes).timeIntervalSinceReferenceDate
            let seconds = date.timeIntervalSinceReferenceDate
            if same.bitPattern != seconds.bitPattern, !(same.isNaN && seconds.isNaN) {
                Issue.record("\(seconds.bitPattern) became \(same.bitPattern): \(hex(bytes))")
            }
            forms.insert(hex(Array(bytes.prefix(1))))
        }
        #expect(forms.isSuperset(of: ["c1", "d9", "fb"]), "all three forms occurred")
    }

    @Test("reads extended time of other encoders") func extendedTime() throws {
        let decoder = CBORDecoder()
        let expected = Date(timeIntervalSince1970: 1.5)
        #expect(try decoder.decode(Date.self, from: bytes(hex: "d903e9a101f93e00")) == expected)
        #expect(try decoder.decode(Date.self, from: bytes(hex: "d903e9a105822003")) == expected)
        #expect(
            try decoder.decode(Date.self, from: bytes(hex: "d903e9a20101221901f4")) == expected,
            "milliseconds")
        #expect(
            try decoder.decode(Date.self, from: bytes(hex: "d903e9a2251a0007a1200101")) == expected,
            "microseconds")
        // The key -1 is a time scale.
        #expect(throws: DecodingError.self) {
            try decoder.decode(Date.self, from: bytes(hex: "d903e9a2010120" + "01"))
        }
        #expect(throws: DecodingError.self) { try decoder.decode(Date.self, from: bytes(hex: "d903e9a0")) }
        #expect(throws: DecodingError.self) {
            try decoder.decode(Date.self, from: bytes(hex: "d903e9a105821b7fffffffffffffff01"))
        }
    }

    @Test("decimals decode exactly") func decimals() throws {
        var generator = SeededGenerator.announced("codec decimals")
        var decimals: [Decimal] = [
            0, -1, .greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude,
            Decimal(string: "-0.1")!, Decimal(string: "12345678901234567890123456789012345678")!,
        ]
        for _ in 0..<2_000 {
            decimals.append(
                Decimal(
                    sign: Bool.random(using: &generator) ? .plus : .minus,
                    exponent: Int.random(in: -100...80, using: &generator),
                    significand: Decimal(generator.next() >> UInt64.random(in: 0..<64, using: &generator))))
        }
        for decimal in decimals { #expect(try roundTrip(decimal) == decimal) }
        #expect(try roundTrip(Decimal.nan).isNaN)
        #expect(
            try CBORDecoder().decode(Decimal.self, from: CBOREncoder().encode(0.1)) == Decimal(string: "0.1"))
        #expect(try CBORDecoder().decode(Decimal.self, from: CBOREncoder().encode(-5)) == -5)
        #expect(throws: DecodingError.self) {
            try CBORDecoder().decode(Decimal.self, from: CBOREncoder().encode(1e300))
        }
    }

    @Test("relative and unusual URLs decode equal") func urls() throws {
        let relative = try #require(URL(string: "b/c", relativeTo: URL(string: "https://example.org/a/")))
        let same = try roundTrip(relative)
        #expect(same == relative)
        #expect(same.baseURL == relative.baseURL)
        for url in [URL(fileURLWithPath: "/tmp/ü x"), URL(string: "a"), URL(string: "mailto:a@b.c")]
            .compactMap({ $0 })
        {
            #expect(try roundTrip(url) == url)
        }
    }

    @Test("reads other encodings of the same values") func spellings() throws {
        let decoder = CBORDecoder()
        #expect(try decoder.decode(Int.self, from: bytes(hex: "1b0000000000000001")) == 1)
        #expect(try decoder.decode(Int.self, from: bytes(hex: "f94500")) == 5)
        #expect(try decoder.decode(UInt8.self, from: bytes(hex: "c24105")) == 5)
        #expect(try decoder.decode(Int.self, from: bytes(hex: "c4820105")) == 50)
        #expect(try decoder.decode(Double.self, from: bytes(hex: "1903e8")) == 1000)
        #expect(try decoder.decode(Float.self, from: bytes(hex: "3903e7")) == -1000)
        #expect(try decoder.decode(Double.self, from: bytes(hex: "c48221196ab3")) == 273.15)
        #expect(try decoder.decode(Double.self, from: bytes(hex: "c249010000000000000000")) == 0x1p64)
        #expect(try decoder.decode(String.self, from: bytes(hex: "7f61616162ff")) == "ab")
        #expect(try decoder.decode([String].self, from: bytes(hex: "9f61617f6162ffff")) == ["a", "b"])
        #expect(try decoder.decode(Data.self, from: bytes(hex: "5f41014102ff")) == Data([1, 2]))
        #expect(try decoder.decode(Data.self, from: bytes(hex: "820102")) == Data([1, 2]))
        #expect(try decoder.decode([UInt8].self, from: bytes(hex: "820102")) == [1, 2])
        #expect(try decoder.decode(Point.self, from: bytes(hex: "bf617801617902ff")) == Point(x: 1, y: 2))
        #expect(try decoder.decode(Point.self, from: bytes(hex: "bf7f6178ff01617902ff")) == Point(x: 1, y: 2))
        #expect(
            try decoder.decode([Point].self, from: bytes(hex: "9fbf617902617801ffff")) == [Point(x: 1, y: 2)])
        // Unknown tags on values, keys and containers.
        #expect(
            try decoder.decode(Point.self, from: bytes(hex: "d9d9f7a2c16178c901d8646179c902"))
                == Point(x: 1, y: 2))
        #expect(try decoder.decode([Bool?].self, from: bytes(hex: "c983c9f5c9f6f7")) == [true, nil, nil])
        #expect(
            try decoder.decode([Int: Bool].self, from: bytes(hex: "a301f5" + "20f4" + "6135f5")) == [
                1: true, -1: false, 5: true,
            ])
        #expect(
            try decoder.decode(UUID.self, from: CBOREncoder().encode("00112233-4455-6677-8899-AABBCCDDEEFF"))
                .uuid.1 == 0x11)
    }
}
