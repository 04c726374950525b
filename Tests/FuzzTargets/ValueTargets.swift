import CBOR

/// Arbitrary bytes as CBOR: all readers agree, and what is read comes back.
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
        if let value {
            guard let again = try? CBORReader.decode(value.encoded), again == value else {
                return "a value does not come back from its own encoding"
            }
        }
        guard let text else { return nil }
        guard let json = try? JSONTranscoder.cbor(from: text) else {
            return "printed JSON is not read: \(text)"
        }
        guard let printed = try? JSONPrinter.text(of: json) else { return "transcoded JSON is not printed" }
        // What JSON does not have is gone after the first time.
        guard let twice = try? JSONTranscoder.cbor(from: printed), twice == json else {
            return "JSON changes at the second time: \(text) and \(printed)"
        }
        input.withUnsafeBytes { bytes in
            var reader = CBORReader(bytes)
            _ = try? reader.enterMap(atKey: "a")
        }
        return nil
    }

    package static func seeds() -> [[UInt8]] {
        let texts = [
            #"{"geonameid":1642911,"name":"Jakarta","population":8540121,"at":[-6.21462,106.84513],"capital":true}"#,
            #"[null,-1,1e400,18446744073709551616,-18446744073709551617,0.1,"\u0000é漢😀",{},[],{"a":{"b":[[]]}}]"#,
        ]
        let indefinite: [UInt8] = [
            0xbf, 0x61, 0x61, 0x9f, 0x7f, 0x61, 0x62, 0xff, 0x5f, 0x41, 1, 0xff, 0xff, 0xff,
        ]
        let tagged: [UInt8] = [0xc4, 0x82, 0x21, 0x19, 0x6a, 0xb3]
        return texts.compactMap { try? JSONTranscoder.cbor(from: $0) } + [
            indefinite, tagged, [0xf9, 0x7e, 0], [0xe0],
        ]
    }
}

/// Arbitrary bytes as JSON text: what is read is well-formed, and comes back from what is printed.
package struct JSONTarget: FuzzTarget {
    package static let name = "json"
    package init() {}

    package mutating func run(_ input: [UInt8]) -> String? {
        var writer = CBORWriter()
        guard input.withUnsafeBytes({ (try? JSONTranscoder.transcode($0, into: &writer)) != nil }) else {
            return nil
        }
        guard CBORReader.isWellFormed(writer.bytes) else { return "transcoded to what is not CBOR" }
        for layout in [JSONLayout.compact, .pretty] {
            guard let text = try? JSONPrinter.text(of: writer.bytes, layout: layout) else {
                return "not printed"
            }
            guard let again = try? JSONTranscoder.cbor(from: text), again == writer.bytes else {
                return "comes back as something else: \(text)"
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
