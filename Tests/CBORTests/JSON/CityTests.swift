import CBOR
import Foundation
import Testing

@Suite("JSON of the demonstration data") struct CityTests {
    private static let url = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Assets/demo/cities.ndjson").standardized

    private static func lines() throws -> [[UInt8]] {
        [UInt8](try Data(contentsOf: url)).split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    @Test("each line is printed byte for byte from its bytes and from its value") func identical() throws {
        let lines = try Self.lines()
        #expect(lines.count == 6204)
        for line in lines {
            let cbor = try JSONTranscoder.cbor(from: line)
            let text = String(decoding: line, as: UTF8.self)
            if try JSONPrinter.text(of: cbor) != text { Issue.record("changed: \(text)") }
            let value = try CBORReader.decode(cbor)
            if value.json() != text || value.encoded != cbor { Issue.record("changed as a value: \(text)") }
        }
    }

    @Test("an independent parser reads equal values from the pretty text and the original line")
    func independent() throws {
        for line in try Self.lines().prefix(500) {
            let pretty = try JSONPrinter.text(of: JSONTranscoder.cbor(from: line), layout: .pretty)
            let ours = try #require(JSONSerialization.jsonObject(with: Data(pretty.utf8)) as? NSDictionary)
            let theirs = try #require(JSONSerialization.jsonObject(with: Data(line)) as? NSDictionary)
            #expect(ours == theirs)
        }
    }
}
