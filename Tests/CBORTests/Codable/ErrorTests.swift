import CBOR
import Foundation
import Testing

/// A decoding error without its description, which differs from Foundation's.
private enum Fault: Equatable, CustomStringConvertible {
    case missing(key: String, at: [String])
    case mismatch(String, at: [String])
    case null(at: [String])
    case corrupted(at: [String])
    case other(String)

    init(_ error: any Error) {
        func path(_ context: DecodingError.Context) -> [String] { context.codingPath.map(\.stringValue) }
        switch error as? DecodingError {
        case .keyNotFound(let key, let context): self = .missing(key: key.stringValue, at: path(context))
        case .typeMismatch(let type, let context): self = .mismatch("\(type)", at: path(context))
        case .valueNotFound(_, let context): self = .null(at: path(context))
        case .dataCorrupted(let context): self = .corrupted(at: path(context))
        default: self = .other("\(error)")
        }
    }

    var description: String {
        switch self {
        case .missing(let key, let path): "missing \(key) at \(path)"
        case .mismatch(let type, let path): "mismatch \(type) at \(path)"
        case .null(let path): "null at \(path)"
        case .corrupted(let path): "corrupted at \(path)"
        case .other(let text): text
        }
    }
}

@Suite("Decoding errors") struct DecodingErrorTests {
    private struct Sample: Decodable {
        var name: String
        var count: UInt8
        var price: Double?
        var points: [Point]
        var tags: [String]?
        var more: [String: Sample]?
        var figure: Figure?
        var kind: Kind?
        var link: URL?
        var single: Float?
        var wide: [Int]?
    }

    private static let texts: [String] = [
        #"{"count":1,"points":[]}"#, #"{"name":"a","points":[]}"#, #"{"name":null,"count":1,"points":[]}"#,
        #"{"name":5,"count":1,"points":[]}"#, #"{"name":"a","count":"1","points":[]}"#,
        #"{"name":"a","count":256,"points":[]}"#, #"{"name":"a","count":-1,"points":[]}"#,
        #"{"name":"a","count":1.5,"points":[]}"#, #"{"name":"a","count":true,"points":[]}"#,
        #"{"name":"a","count":1,"points":{}}"#, #"{"name":"a","count":1,"points":5}"#,
        #"{"name":"a","count":1,"points":null}"#, #"{"name":"a","count":1,"points":[{"x":1,"y":2},{"x":1}]}"#,
        #"{"name":"a","count":1,"points":[{"x":1,"y":2},{"x":1,"y":"2"}]}"#,
        #"{"name":"a","count":1,"points":[null]}"#, #"{"name":"a","count":1,"points":[[]]}"#,
        #"{"name":"a","count":1,"points":[],"price":"x"}"#,
        #"{"name":"a","count":1,"points":[],"tags":["a",1]}"#,
        #"{"name":"a","count":1,"points":[],"tags":["a",null]}"#,
        #"{"name":"a","count":1,"points":[],"tags":{}}"#,
        #"{"name":"a","count":1,"points":[],"wide":[1,1e300]}"#,
        #"{"name":"a","count":1,"points":[],"single":1e300}"#,
        #"{"name":"a","count":1,"points":[],"more":{"k":{"name":"b","count":1,"points":[{}]}}}"#,
        #"{"name":"a","count":1,"points":[],"more":{"k":{"name":"b","count":999,"points":[]}}}"#,
        #"{"name":"a","count":1,"points":[],"figure":{"circle":{"center":{"x":1},"radius":1}}}"#,
        #"{"name":"a","count":1,"points":[],"figure":{"circle":{"radius":"x","center":{"x":1,"y":1}}}}"#,
        #"{"name":"a","count":1,"points":[],"figure":{}}"#,
        #"{"name":"a","count":1,"points":[],"figure":{"nothing":{},"circle":{}}}"#,
        #"{"name":"a","count":1,"points":[],"kind":"third"}"#,
        #"{"name":"a","count":1,"points":[],"kind":3}"#, #"[]"#, #"5"#, #""a""#,
    ]

    @Test("reports the same kind of error at the same coding path as Foundation's JSON", arguments: texts)
    func sameErrors(text: String) throws {
        func fault(_ body: () throws -> Sample) -> Fault? {
            do {
                _ = try body()
                return nil
            } catch {
                return Fault(error)
            }
        }
        let cbor = try JSONTranscoder.cbor(from: text)
        let ours = try #require(fault { try CBORDecoder().decode(Sample.self, from: cbor) })
        let theirs = try #require(fault { try JSONDecoder().decode(Sample.self, from: Data(text.utf8)) })
        if theirs == .corrupted(at: []) {
            // Foundation doesn't report the path of a number that doesn't fit.
            guard case .corrupted(let path) = ours else {
                Issue.record("\(ours)")
                return
            }
            #expect(["count", "single", "Index 1"].contains(path.last))
        } else {
            #expect(ours == theirs)
        }
    }

    @Test("throws at the end of an array and for a missing superclass") func ends() throws {
        struct Two: Decodable {
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                _ = try container.decode(Int.self)
                _ = try container.decode(Int.self)
            }
        }
        func fault(_ body: () throws -> Void) -> Fault? {
            do { try body() } catch { return Fault(error) }
            return nil
        }
        #expect(
            fault { _ = try CBORDecoder().decode([String: Two].self, from: bytes(hex: "a1616b8101")) }
                == .null(at: ["k", "Index 1"]))
        #expect(
            fault { _ = try CBORDecoder().decode(Dog.self, from: bytes(hex: "a1667472" + "69636b7380")) }
                == .missing(key: "super", at: []))
    }

    @Test("a type can continue with the next item after an error") func recovery() throws {
        struct Lossy: Decodable {
            var numbers: [Int?] = []
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                while !container.isAtEnd {
                    if let number = try? container.decode(Int.self) {
                        numbers.append(number)
                    } else {
                        _ = try container.superDecoder()
                        numbers.append(nil)
                    }
                }
            }
        }
        let cbor = try JSONTranscoder.cbor(from: #"[1,"a",{"x":[1]},2,null,1.5]"#)
        #expect(try CBORDecoder().decode(Lossy.self, from: cbor).numbers == [1, nil, nil, 2, nil, nil])
    }
}

@Suite("Misuse of encoders") struct MisuseTests {
    /// Encodes with a closure.
    private struct By: Encodable {
        let body: (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try body(encoder) }
    }

    private enum Keys: CodingKey { case a, b }

    private struct AnyName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    private func expectError(_ path: [String] = [], _ body: @escaping (any Encoder) throws -> Void) {
        do {
            let bytes = try CBOREncoder().encode(By(body: body))
            Issue.record("encoded: \(hex(bytes))")
        } catch EncodingError.invalidValue(_, let context) {
            #expect(context.codingPath.map(\.stringValue) == path)
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("encoding no value, two values, two shapes or a repeated key is an error") func misuse() throws {
        expectError { _ in }
        expectError { encoder in
            var container = encoder.singleValueContainer()
            try container.encode(1)
            try container.encode(2)
        }
        expectError { encoder in
            var container = encoder.singleValueContainer()
            try container.encode(1)
            try? container.encode("swallowed")
        }
        expectError { encoder in
            var map = encoder.container(keyedBy: Keys.self)
            try map.encode(1, forKey: .a)
            var list = encoder.unkeyedContainer()
            try? list.encode(1)
        }
        expectError { encoder in
            var map = encoder.container(keyedBy: Keys.self)
            try map.encode(1, forKey: .a)
            try map.encode(2, forKey: .a)
        }
        for count in [3, 30, 300] {
            let keys = (0..<count).map { AnyName("key \($0)") }
            let body: ([AnyName]) -> By = { keys in
                By { encoder in
                    var map = encoder.container(keyedBy: AnyName.self)
                    for key in keys { try map.encode([1, 2], forKey: key) }
                }
            }
            #expect(throws: Never.self) { try CBOREncoder().encode(body(keys)) }
            #expect(throws: EncodingError.self) { try CBOREncoder().encode(body(keys + [keys[count / 2]])) }
        }
        expectError(["b"]) { encoder in
            var map = encoder.container(keyedBy: Keys.self)
            try map.encode(
                By { inner in
                    var single = inner.singleValueContainer()
                    try single.encode(1)
                    try single.encode(2)
                }, forKey: .b)
        }
    }

    @Test("a container that was stored, or is used during a nested encoding, throws")
    func kept() throws {
        var kept: (any UnkeyedEncodingContainer)?
        var keptPart: KeyedEncodingContainer<Keys>?
        var keptEncoder: (any Encoder)?
        let bytes = try CBOREncoder().encode([
            By { encoder in
                var list = encoder.unkeyedContainer()
                try list.encode(1)
                kept = list
                keptPart = list.nestedContainer(keyedBy: Keys.self)
                keptEncoder = list.superEncoder()
            }
        ])
        #expect(hex(bytes) == "818301a0a0")
        #expect(throws: EncodingError.self) { try kept?.encode(2) }
        #expect(throws: EncodingError.self) { try keptPart?.encode(2, forKey: .a) }
        var single = keptEncoder?.singleValueContainer()
        #expect(throws: EncodingError.self) { try single?.encode(2) }
        expectError(["b"]) { encoder in
            var map = encoder.container(keyedBy: Keys.self)
            let outer = map
            try map.encode(
                By { inner in
                    var inner = inner.unkeyedContainer()
                    try inner.encode(1)
                    var outer = outer
                    try outer.encode(1, forKey: .a)
                }, forKey: .b)
        }
    }

    @Test("a value that could not be encoded leaves no bytes") func rollback() throws {
        struct Refusal: Error {}
        let bytes = try CBOREncoder().encode(
            By { encoder in
                var map = encoder.container(keyedBy: Keys.self)
                try? map.encode(
                    By { inner in
                        var list = inner.unkeyedContainer()
                        try list.encode([1, 2, 3])
                        _ = list.nestedUnkeyedContainer()
                        throw Refusal()
                    }, forKey: .a)
                try map.encode(["x": 1], forKey: .b)
            })
        #expect(hex(bytes) == "a16162a1617801")
    }

    @Test("a nested value that encodes nothing is an empty map, as in JSON") func empty() throws {
        #expect(hex(try CBOREncoder().encode([By { _ in }])) == "81a0")
    }

    @Test("refuses values that contain themselves, in every kind of container") func endless() {
        final class Endless: Encodable {
            let shape: Int
            init(_ shape: Int) { self.shape = shape }
            func encode(to encoder: any Encoder) throws {
                switch shape {
                case 0:
                    var map = encoder.container(keyedBy: Keys.self)
                    try map.encode(self, forKey: .a)
                case 1:
                    var list = encoder.unkeyedContainer()
                    try list.encode([self])
                case 2:
                    var single = encoder.singleValueContainer()
                    try single.encode(self)
                case 3:
                    var list = encoder.unkeyedContainer()
                    for _ in 0..<100_000 { list = list.nestedUnkeyedContainer() }
                default:
                    var map = encoder.container(keyedBy: Keys.self)
                    try encode(to: map.superEncoder())
                }
            }
        }
        for shape in 0..<4 {
            #expect(throws: EncodingError.self, "\(shape)") { try CBOREncoder().encode(Endless(shape)) }
        }
    }

    @Test("coding paths are those of the values during encoding") func paths() throws {
        var paths: [String] = []
        func note(_ path: [any CodingKey]) { paths.append(path.map(\.stringValue).joined(separator: "/")) }
        _ = try CBOREncoder().encode(
            By { encoder in
                note(encoder.codingPath)
                var map = encoder.container(keyedBy: Keys.self)
                try map.encode(
                    [
                        By { inner in
                            note(inner.codingPath)
                            var part = inner.unkeyedContainer().self
                            try part.encode(1)
                            note(part.nestedContainer(keyedBy: Keys.self).codingPath)
                        }
                    ], forKey: .a)
                note(map.superEncoder().codingPath)
                note(map.codingPath)
            })
        #expect(paths == ["", "a/Index 0", "a/Index 0/Index 1", "super", ""])
    }
}
