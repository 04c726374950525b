import CBOR

/// Rows of RFC 8949, Appendix A: the printed notation and bytes, and the value.
struct AppendixARow: Sendable {
    let hex: String
    let diagnostic: String
    let value: CBORValue
    /// Whether the bytes are in preferred serialization: encoding the value gives the same bytes.
    var isPreferred = true
}

enum AppendixA {
    static let rows = integers + floats + simples + tags + strings + containers + indefinite

    private static let integers: [AppendixARow] = [
        .init(hex: "00", diagnostic: "0", value: 0),
        .init(hex: "01", diagnostic: "1", value: 1),
        .init(hex: "0a", diagnostic: "10", value: 10),
        .init(hex: "17", diagnostic: "23", value: 23),
        .init(hex: "1818", diagnostic: "24", value: 24),
        .init(hex: "1819", diagnostic: "25", value: 25),
        .init(hex: "1864", diagnostic: "100", value: 100),
        .init(hex: "1903e8", diagnostic: "1000", value: 1000),
        .init(hex: "1a000f4240", diagnostic: "1000000", value: 1_000_000),
        .init(hex: "1b000000e8d4a51000", diagnostic: "1000000000000", value: 1_000_000_000_000),
        .init(hex: "1bffffffffffffffff", diagnostic: "18446744073709551615", value: .unsigned(.max)),
        .init(
            hex: "c249010000000000000000", diagnostic: "18446744073709551616",
            value: .tagged(2, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0]))),
        .init(hex: "3bffffffffffffffff", diagnostic: "-18446744073709551616", value: .negative(.max)),
        .init(
            hex: "c349010000000000000000", diagnostic: "-18446744073709551617",
            value: .tagged(3, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0]))),
        .init(hex: "20", diagnostic: "-1", value: -1),
        .init(hex: "29", diagnostic: "-10", value: -10),
        .init(hex: "3863", diagnostic: "-100", value: -100),
        .init(hex: "3903e7", diagnostic: "-1000", value: -1000),
    ]

    private static let floats: [AppendixARow] = [
        .init(hex: "f90000", diagnostic: "0.0", value: 0.0),
        .init(hex: "f98000", diagnostic: "-0.0", value: .float(-0.0)),
        .init(hex: "f93c00", diagnostic: "1.0", value: 1.0),
        .init(hex: "fb3ff199999999999a", diagnostic: "1.1", value: 1.1),
        .init(hex: "f93e00", diagnostic: "1.5", value: 1.5),
        .init(hex: "f97bff", diagnostic: "65504.0", value: 65504.0),
        .init(hex: "fa47c35000", diagnostic: "100000.0", value: 100000.0),
        .init(hex: "fa7f7fffff", diagnostic: "3.4028234663852886e+38", value: 3.4028234663852886e+38),
        .init(hex: "fb7e37e43c8800759c", diagnostic: "1.0e+300", value: 1.0e+300),
        .init(hex: "f90001", diagnostic: "5.960464477539063e-8", value: 5.960464477539063e-8),
        .init(hex: "f90400", diagnostic: "0.00006103515625", value: 0.00006103515625),
        .init(hex: "f9c400", diagnostic: "-4.0", value: -4.0),
        .init(hex: "fbc010666666666666", diagnostic: "-4.1", value: -4.1),
        .init(hex: "f97c00", diagnostic: "Infinity", value: .float(.infinity)),
        .init(hex: "f97e00", diagnostic: "NaN", value: .float(.nan)),
        .init(hex: "f9fc00", diagnostic: "-Infinity", value: .float(-.infinity)),
        .init(hex: "fa7f800000", diagnostic: "Infinity", value: .float(.infinity), isPreferred: false),
        .init(hex: "fa7fc00000", diagnostic: "NaN", value: .float(.nan), isPreferred: false),
        .init(hex: "faff800000", diagnostic: "-Infinity", value: .float(-.infinity), isPreferred: false),
        .init(
            hex: "fb7ff0000000000000", diagnostic: "Infinity", value: .float(.infinity), isPreferred: false),
        .init(hex: "fb7ff8000000000000", diagnostic: "NaN", value: .float(.nan), isPreferred: false),
        .init(
            hex: "fbfff0000000000000", diagnostic: "-Infinity", value: .float(-.infinity), isPreferred: false),
    ]

    private static let simples: [AppendixARow] = [
        .init(hex: "f4", diagnostic: "false", value: false),
        .init(hex: "f5", diagnostic: "true", value: true),
        .init(hex: "f6", diagnostic: "null", value: nil),
        .init(hex: "f7", diagnostic: "undefined", value: .undefined),
        .init(hex: "f0", diagnostic: "simple(16)", value: .simple(CBORSimpleValue(rawValue: 16)!)),
        .init(hex: "f8ff", diagnostic: "simple(255)", value: .simple(CBORSimpleValue(rawValue: 255)!)),
    ]

    private static let tags: [AppendixARow] = [
        .init(
            hex: "c074323031332d30332d32315432303a30343a30305a", diagnostic: "0(\"2013-03-21T20:04:00Z\")",
            value: .tagged(0, "2013-03-21T20:04:00Z")),
        .init(hex: "c11a514b67b0", diagnostic: "1(1363896240)", value: .tagged(1, 1_363_896_240)),
        .init(hex: "c1fb41d452d9ec200000", diagnostic: "1(1363896240.5)", value: .tagged(1, 1_363_896_240.5)),
        .init(hex: "d74401020304", diagnostic: "23(h'01020304')", value: .tagged(23, .bytes([1, 2, 3, 4]))),
        .init(
            hex: "d818456449455446", diagnostic: "24(h'6449455446')",
            value: .tagged(24, .bytes([0x64, 0x49, 0x45, 0x54, 0x46]))),
        .init(
            hex: "d82076687474703a2f2f7777772e6578616d706c652e636f6d",
            diagnostic: "32(\"http://www.example.com\")", value: .tagged(32, "http://www.example.com")),
    ]

    private static let strings: [AppendixARow] = [
        .init(hex: "40", diagnostic: "h''", value: .bytes([])),
        .init(hex: "4401020304", diagnostic: "h'01020304'", value: .bytes([1, 2, 3, 4])),
        .init(hex: "60", diagnostic: "\"\"", value: ""),
        .init(hex: "6161", diagnostic: "\"a\"", value: "a"),
        .init(hex: "6449455446", diagnostic: "\"IETF\"", value: "IETF"),
        .init(hex: "62225c", diagnostic: "\"\\\"\\\\\"", value: "\"\\"),
        .init(hex: "62c3bc", diagnostic: "\"\u{fc}\"", value: "\u{fc}"),
        .init(hex: "63e6b0b4", diagnostic: "\"\u{6c34}\"", value: "\u{6c34}"),
        .init(hex: "64f0908591", diagnostic: "\"\u{10151}\"", value: "\u{10151}"),
    ]

    private static let countTo25 = CBORValue.array((1...25).map { CBORValue(integer: $0) })
    private static let countTo25Hex = "0102030405060708090a0b0c0d0e0f101112131415161718181819"
    private static let countTo25Notation = (1...25).map(\.description).joined(separator: ", ")

    private static let containers: [AppendixARow] = [
        .init(hex: "80", diagnostic: "[]", value: []),
        .init(hex: "83010203", diagnostic: "[1, 2, 3]", value: [1, 2, 3]),
        .init(hex: "8301820203820405", diagnostic: "[1, [2, 3], [4, 5]]", value: [1, [2, 3], [4, 5]]),
        .init(hex: "9819" + countTo25Hex, diagnostic: "[\(countTo25Notation)]", value: countTo25),
        .init(hex: "a0", diagnostic: "{}", value: [:]),
        .init(hex: "a201020304", diagnostic: "{1: 2, 3: 4}", value: [1: 2, 3: 4]),
        .init(
            hex: "a26161016162820203", diagnostic: "{\"a\": 1, \"b\": [2, 3]}", value: ["a": 1, "b": [2, 3]]),
        .init(hex: "826161a161626163", diagnostic: "[\"a\", {\"b\": \"c\"}]", value: ["a", ["b": "c"]]),
        .init(
            hex: "a56161614161626142616361436164614461656145",
            diagnostic: "{\"a\": \"A\", \"b\": \"B\", \"c\": \"C\", \"d\": \"D\", \"e\": \"E\"}",
            value: ["a": "A", "b": "B", "c": "C", "d": "D", "e": "E"]),
    ]

    private static let indefinite: [AppendixARow] = [
        .init(
            hex: "5f42010243030405ff", diagnostic: "(_ h'0102', h'030405')", value: .bytes([1, 2, 3, 4, 5]),
            isPreferred: false),
        .init(
            hex: "7f657374726561646d696e67ff", diagnostic: "(_ \"strea\", \"ming\")", value: "streaming",
            isPreferred: false),
        .init(hex: "9fff", diagnostic: "[_ ]", value: [], isPreferred: false),
        .init(
            hex: "9f018202039f0405ffff", diagnostic: "[_ 1, [2, 3], [_ 4, 5]]", value: [1, [2, 3], [4, 5]],
            isPreferred: false),
        .init(
            hex: "9f01820203820405ff", diagnostic: "[_ 1, [2, 3], [4, 5]]", value: [1, [2, 3], [4, 5]],
            isPreferred: false),
        .init(
            hex: "83018202039f0405ff", diagnostic: "[1, [2, 3], [_ 4, 5]]", value: [1, [2, 3], [4, 5]],
            isPreferred: false),
        .init(
            hex: "83019f0203ff820405", diagnostic: "[1, [_ 2, 3], [4, 5]]", value: [1, [2, 3], [4, 5]],
            isPreferred: false),
        .init(
            hex: "9f" + countTo25Hex + "ff", diagnostic: "[_ \(countTo25Notation)]", value: countTo25,
            isPreferred: false),
        .init(
            hex: "bf61610161629f0203ffff", diagnostic: "{_ \"a\": 1, \"b\": [_ 2, 3]}",
            value: ["a": 1, "b": [2, 3]], isPreferred: false),
        .init(
            hex: "826161bf61626163ff", diagnostic: "[\"a\", {_ \"b\": \"c\"}]", value: ["a", ["b": "c"]],
            isPreferred: false),
        .init(
            hex: "bf6346756ef563416d7421ff", diagnostic: "{_ \"Fun\": true, \"Amt\": -2}",
            value: ["Fun": true, "Amt": -2], isPreferred: false),
    ]
}
