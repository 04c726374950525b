import CBOR
import Foundation

/// A struct with a property of every kind that the decoder handles separately.
private struct TypedSample: Codable {
    var name: String
    var small: Int8
    var number: Double?
    var single: Float
    var wide: UInt128?
    var date: Date?
    var data: Data
    var bytes: [UInt8]
    var identifier: UUID?
    var url: URL?
    var price: Decimal?
    var names: [String]
    var set: Set<Int>

    static let sample = TypedSample(
        name: "é漢", small: -5, number: 0.1, single: 1.5, wide: .max, date: Date(timeIntervalSince1970: 1.5),
        data: Data([1]), bytes: [2], identifier: UUID(), url: URL(string: "https://example.org"), price: 1.25,
        names: ["a", "b"], set: [1, 500])
}

/// Nested containers, opened explicitly.
private indirect enum TypedTree: Codable {
    case leaf(Int)
    case branch([TypedTree])
    case named(String, TypedTree)
}

/// Arbitrary bytes as CBOR: all readers agree, and values survive a round trip.
package struct CBORTarget: FuzzTarget {
    package static let name = "cbor"
    package init() {}

    package mutating func run(_ input: [UInt8]) -> String? {
        let value = try? CBORReader.decode(input)
        let isRead = value != nil
        if CBORReader.isWellFormed(input) != isRead { return "stepping over disagrees with reading" }
        let text = try? JSONPrinter.text(of: input)
        if (text != nil) != isRead { return "the JSON printer disagrees with the reader" }
        if ((try? CBORDiagnosticPrinter.text(of: input)) != nil) != isRead { return "the notation disagrees" }
        if let failure = decodeTyped(input) { return failure }
        if let value {
            guard let again = try? CBORReader.decode(value.encoded), again == value else {
                return "a value does not come back from its own encoding"
            }
        }
        guard let text else { return nil }
        func read(_ text: String) -> [UInt8]? {
            try? JSONTranscoder.cbor(from: Array(text.utf8), uniqueNames: false, readsBytes: true)
        }
        guard let json = read(text) else {
            return "printed JSON is not read: \(text)"
        }
        guard let printed = try? JSONPrinter.text(of: json) else { return "transcoded JSON is not printed" }
        // Values that JSON lacks are lost the first time.
        guard let twice = read(printed), twice == json else {
            return "JSON changes at the second time: \(text) and \(printed)"
        }
        input.withUnsafeBytes { bytes in
            var reader = CBORReader(bytes)
            _ = try? reader.enterMap(atKey: "a")
        }
        return nil
    }

    /// The same bytes as values of types. Decoded values survive a round trip, with a stable encoding.
    private func decodeTyped(_ input: [UInt8]) -> String? {
        func failure<Value: Codable>(_ type: Value.Type) -> String? {
            guard let value = try? CBORDecoder().decode(type, from: input) else { return nil }
            guard let bytes = try? CBOREncoder().encode(value) else { return "\(type) is not encoded" }
            guard let again = try? CBORDecoder().decode(type, from: bytes) else {
                return "\(type) does not come back from its own encoding"
            }
            guard let twice = try? CBOREncoder().encode(again), twice == bytes else {
                return "\(type) changes at the second time"
            }
            return nil
        }
        return failure(TypedSample.self) ?? failure([String: TypedSample].self)
            ?? failure([Int: [Double]].self) ?? failure([[String?]].self) ?? failure(TypedTree.self)
            ?? failure(Int128.self) ?? failure(Date.self) ?? failure(Decimal.self)
    }

    package static func seeds() -> [[UInt8]] {
        let typed: [[UInt8]?] = [
            try? CBOREncoder().encode(TypedSample.sample),
            try? CBOREncoder().encode(["a": TypedSample.sample, "b": TypedSample.sample]),
            try? CBOREncoder().encode([1: [0.5], -2: [1e300, 3]]),
            try? CBOREncoder().encode(TypedTree.branch([.leaf(5), .named("x", .branch([]))])),
            try? CBOREncoder().encode(Date(timeIntervalSinceReferenceDate: 0.1)),
            try? CBOREncoder().encode(Decimal(sign: .minus, exponent: -3, significand: 12_345)),
        ]
        let texts = [
            #"{"geonameid":1642911,"name":"Jakarta","population":8540121,"at":[-6.21462,106.84513],"capital":true}"#,
            #"[null,-1,1e400,18446744073709551616,-18446744073709551617,0.1,"\u0000é漢😀",{},[],{"a":{"b":[[]]}}]"#,
        ]
        let indefinite: [UInt8] = [
            0xbf, 0x61, 0x61, 0x9f, 0x7f, 0x61, 0x62, 0xff, 0x5f, 0x41, 1, 0xff, 0xff, 0xff,
        ]
        let tagged: [UInt8] = [0xc4, 0x82, 0x21, 0x19, 0x6a, 0xb3]
        return texts.compactMap { try? JSONTranscoder.cbor(from: $0) } + typed.compactMap { $0 } + [
            indefinite, tagged, [0xf9, 0x7e, 0], [0xe0],
        ]
    }
}

/// Arbitrary bytes as JSON text: results are well-formed and survive a round trip.
package struct JSONTarget: FuzzTarget {
    package static let name = "json"
    package init() {}

    package mutating func run(_ input: [UInt8]) -> String? {
        var writer = CBORWriter()
        guard input.withUnsafeBytes({ (try? JSONTranscoder.transcode($0, into: &writer)) != nil }) else {
            return nil
        }
        guard CBORReader.isWellFormed(writer.bytes) else { return "transcoded to invalid CBOR" }
        for layout in [JSONLayout.compact, .pretty] {
            guard let text = try? JSONPrinter.text(of: writer.bytes, layout: layout) else {
                return "not printed"
            }
            guard let again = try? JSONTranscoder.cbor(from: text), again == writer.bytes else {
                return "is read as something else: \(text)"
            }
        }
        return nil
    }

    package static func seeds() -> [[UInt8]] {
        [
            #"{"name":"Jakarta","n":8540121,"at":[-6.21462,106.84513],"x":[true,false,null]}"#,
            #"[1e400,-0,-0.0,1E+2,18446744073709551616,0.1e-999999999999,"\ud83d\ude00\"\\\/\b\f\n\r\t"]"#,
            "\"\"",
        ].map { Array($0.utf8) }
    }
}
