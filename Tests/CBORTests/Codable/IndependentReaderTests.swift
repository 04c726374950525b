import TestSupport
import CBOR
import Foundation
import Testing

/// Compares encodings with a Python reader that was written from the RFC.
@Suite("An independent reader") struct IndependentReaderTests {
    private static let python = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":")
        .map { $0 + "/python3" }.first(where: FileManager.default.isExecutableFile(atPath:))

    /// Each encoding as the script prints it.
    private func read(_ encodings: [[UInt8]]) throws -> [Any] {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Reader/items.py")
        let lines = encodings.map { hex($0) + "\n" }.joined()
        let outcome = try ChildProcess.run(
            String(try #require(Self.python)), [script.path], input: Data(lines.utf8))
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try outcome.output.split(separator: UInt8(ascii: "\n")).map {
            try JSONSerialization.jsonObject(with: $0, options: .fragmentsAllowed)
        }
    }

    /// A tree as the script prints it: floats as their bits, other values as in JSON.
    private func expected(_ node: Node) -> Any {
        switch node {
        case .null: NSNull()
        case .flag(let flag): flag
        case .number(let number): ["float": float(number)]
        case .text(let text): text
        case .list(let list): list.map(expected)
        case .object(let object): object.mapValues(expected)
        }
    }

    private func float(_ number: Double) -> String {
        hex(withUnsafeBytes(of: number.bitPattern.bigEndian) { Array($0) })
    }

    @Test("reads random trees", .enabled(if: python != nil, "needs python3")) func trees() throws {
        var generator = SeededGenerator.announced("codec independent reader")
        let nodes = (0..<40).map { _ in Node.random(depth: 3, using: &generator) }
        let read = try read(nodes.map { try CBOREncoder().encode($0) })
        #expect(read.count == nodes.count)
        for (node, other) in zip(nodes, read) {
            #expect(([expected(node)] as NSArray) == ([other] as NSArray))
        }
    }

    @Test("reads all shapes, property by property", .enabled(if: python != nil, "needs python3"))
    func shapes() throws {
        let shapes = Shapes()
        let read = try read([CBOREncoder().encode(shapes)])
        let map = try #require(read.first as? NSDictionary)
        func check(_ key: String, _ value: Any) {
            #expect(([map[key] ?? "missing"] as NSArray) == ([value] as NSArray), "\(key)")
        }
        #expect(map["absent"] == nil)
        #expect(map.count == 24)
        check("text", shapes.text)
        check("large", UInt64.max)
        check("wide", ["tag": [3, ["bytes": "7fffffffffffffffffffffffffffffff"]]])
        check("single", ["float": float(Double(Float(0.1)))])
        check(
            "nested", [[["float": float(1.5)]], [], [["float": float(-0.0)], ["float": float(.infinity)]]])
        check("holes", ["a", NSNull(), "c"])
        check("byText", ["a": 2, "b": 1, "aa": 3])
        check("byNumber", ["10": "ten", "-1": "minus one"])
        check("byPoint", [["x": 1, "y": 2], "p"])
        check("figure", ["circle": ["center": ["x": 3, "y": 4], "radius": ["float": float(5)]]])
        check("plain", ["nothing": [String: Int]()])
        check("kind", "second")
        check("data", ["bytes": "00ff80"])
        check("identifier", ["tag": [37, ["bytes": "0102030405060708090a0b0c0d0e0f10"]]])
        check("url", ["tag": [32, "https://example.org/a?b=c#d"]])
        check("price", ["tag": [4, [-9, ["tag": [2, ["bytes": "03fd35eb6d797a91c4d85f15"]]]]]])
    }
}
