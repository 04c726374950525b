import TestSupport
import CBOR
import Testing

@Suite("JSON numbers") struct JSONNumberTests {
    @Test(
        "integers become integer items or bignums and print unchanged",
        arguments: [
            ("0", "00"), ("1", "01"), ("-1", "20"), ("9007199254740993", "1b0020000000000001"),
            ("9223372036854775808", "1b8000000000000000"), ("-9223372036854775809", "3b8000000000000000"),
            ("9999999999999999999", "1b8ac7230489e7ffff"), ("10000000000000000000", "1b8ac7230489e80000"),
            ("18446744073709551615", "1bffffffffffffffff"),
            ("18446744073709551616", "c249010000000000000000"),
            ("-18446744073709551615", "3bfffffffffffffffe"), ("-18446744073709551616", "3bffffffffffffffff"),
            ("-18446744073709551617", "c349010000000000000000"),
            ("340282366920938463463374607431768211456", "c25101" + String(repeating: "00", count: 16)),
        ])
    func integers(text: String, expected: String) throws {
        let cbor = try JSONTranscoder.cbor(from: text)
        #expect(hex(cbor) == expected)
        #expect(try JSONPrinter.text(of: cbor) == text)
    }

    @Test(
        "floats print as the same number, with a point or an exponent",
        arguments: [
            ("0.0", "0.0"), ("-0.0", "-0.0"), ("-0", "-0.0"), ("-0e5", "-0.0"),
            ("0e999999999999999999999999", "0.0"), ("1.0", "1.0"), ("1e5", "100000.0"), ("1E+5", "100000.0"),
            ("1e-5", "1e-05"), ("35.42873", "35.42873"), ("0.1", "0.1"), ("1.10", "1.1"),
            ("0.30000000000000004", "0.30000000000000004"), ("1e22", "1e+22"), ("1e23", "1e+23"),
            ("123456789012345e-30", "1.23456789012345e-16"), ("5e-324", "5e-324"),
            ("2.2250738585072014e-308", "2.2250738585072014e-308"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"), ("100000000000000000000.0", "1e+20"),
            ("0.000000000000000000000000000001", "1e-30"), ("1e0000000000000000000002", "100.0"),
            ("1.500000000000000000000000000000000000", "1.5"),
        ])
    func floats(text: String, expected: String) throws {
        let value = try CBORValue(json: text)
        guard case .float = value else {
            Issue.record("\(text) became \(value)")
            return
        }
        #expect(value.json() == expected)
        #expect(try CBORValue(json: value.json()) == value)
    }

    /// The bytes are from an independent calculation with Python's integers.
    @Test(
        "numbers that no double prints become decimal fractions and print exactly",
        arguments: [
            ("9007199254740993.0", "c482001b0020000000000001", "9007199254740993.0"),
            ("9007199254740993.5", "c482201b014000000000000f", "9007199254740993.5"),
            ("3.14159265358979323846", "c48233c2491107d5eb5b5ba4d7c6", "3.14159265358979323846"),
            ("1234567890123456789012.0", "c48200c24942ed123b0bd8203a14", "1234567890123456789012.0"),
            ("1e400", "c48219019001", "1.0e+400"), ("-1E400", "c48219019020", "-1.0e+400"),
            ("1e-400", "c48239018f01", "1.0e-400"), ("4e-324", "c48239014304", "4.0e-324"),
            ("0.10000000000000000000001", "c48236c24a021e19e0c9bab2400001", "0.10000000000000000000001"),
            (
                "-0.1000000000000000055511151231257827", "c4823821c34e314dc6448d933986922312364ce2",
                "-0.1000000000000000055511151231257827"
            ),
            (
                "123456789012345678901234567890.5", "c48220c24d0f951a9fa3a286c94f0e766c39",
                "123456789012345678901234567890.5"
            ),
            ("12345678901234567891e-5", "c482241bab54a98ceb1f0ad3", "123456789012345.67891"),
            ("1.7976931348623159e308", "c4821901241b003fddec7f2faf37", "1.7976931348623159e+308"),
            ("2.4703282292062327e-324", "c4823901531b0057c3811dcdf877", "2.4703282292062327e-324"),
            ("10e9223372036854775806", "c4821b7fffffffffffffff01", "1.0e+9223372036854775807"),
            ("1.5e-9223372036854775807", "c4823b7fffffffffffffff0f", "1.5e-9223372036854775807"),
        ])
    func fractions(text: String, expected: String, printed: String) throws {
        let cbor = try JSONTranscoder.cbor(from: text)
        #expect(hex(cbor) == expected)
        #expect(try JSONPrinter.text(of: cbor) == printed)
        #expect(try JSONTranscoder.cbor(from: printed) == cbor)
    }

    @Test("random decimals print with the same digits") func randomDecimals() throws {
        var generator = SeededGenerator.announced("decimals")
        for _ in 0..<20_000 {
            let length = Int.random(in: 1...24, using: &generator)
            // One spelling: neither first nor last digit is 0, and the number is from 1 to 10^15, where doubles print without
            // exponent.
            let digits = (0..<length + 1).map { place in
                Int.random(in: place == 0 || place == length ? 1...9 : 0...9, using: &generator).description
            }
            let point = Int.random(in: 1...min(length, 15), using: &generator)
            let text = digits[..<point].joined() + "." + digits[point...].joined()
            let value = try CBORValue(json: text)
            if value.json() != text { Issue.record("\(text) became \(value.json())") }
            // Only a double that prints as this text is stored as a double.
            let isDouble = Double(text)?.description == text
            if (value.asDouble != nil) != isDouble { Issue.record("\(text) became \(value)") }
        }
    }

    @Test("decimals of every magnitude print unchanged", arguments: [1, 16, 17, 20, 21, 22, 23, 45])
    func magnitudes(length: Int) throws {
        let digits =
            String("123456789".prefix(min(length, 9))) + String(repeating: "7", count: max(0, length - 9))
        for exponent in -50...50 {
            for sign in ["", "-"] {
                let cbor = try JSONTranscoder.cbor(from: "\(sign)\(digits)e\(exponent)")
                let printed = try JSONPrinter.text(of: cbor)
                #expect(try JSONTranscoder.cbor(from: printed) == cbor, "\(printed)")
            }
        }
    }

    @Test("random doubles keep all their bits") func randomDoubles() throws {
        var generator = SeededGenerator.announced("doubles")
        for _ in 0..<20_000 {
            let number = Double(bitPattern: generator.next())
            guard number.isFinite else { continue }
            if try CBORValue(json: number.description) != .float(number) { Issue.record("\(number) changed") }
        }
    }

    @Test("long integers print digit for digit", arguments: [20, 39, 100, 1000, 16_384])
    func longIntegers(length: Int) throws {
        var generator = SeededGenerator.announced("long integers")
        for sign in ["", "-"] {
            let digits = (1..<length).map { _ in Int.random(in: 0...9, using: &generator).description }
            let text = sign + "9" + digits.joined()
            #expect(try JSONPrinter.text(of: JSONTranscoder.cbor(from: text)) == text)
        }
    }

    @Test("refuses numbers that are too long or too large") func limits() {
        let digits = String(repeating: "9", count: 16_385)
        let tooMany = JSONError(offset: 1, reason: .tooManyDigits(limit: 16_384))
        #expect(throws: tooMany) { try CBORValue(json: "[" + digits + "]") }
        #expect(throws: tooMany) { try CBORValue(json: "[0." + digits + "]") }
        let tooFar = JSONError(offset: 0, reason: .exponentOutOfRange)
        #expect(throws: tooFar) { try CBORValue(json: "1e9223372036854775808") }
        #expect(throws: tooFar) { try CBORValue(json: "1e-99999999999999999999999999999999999999999999") }
        #expect(throws: tooFar) { try CBORValue(json: "0.1e-9223372036854775808") }
    }
}
