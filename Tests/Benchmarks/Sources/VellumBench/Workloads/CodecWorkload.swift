import CBOR
import Foundation

/// P4: each city of the demonstration data, encoded and decoded separately, as CBOR by our codec and as JSON by Foundation's,
/// in turn.
struct CodecWorkload {
    static let encoding = "P4 encode a city"
    static let decoding = "P4 decode a city"

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(CodecWorkload.encoding) || plan.wants(CodecWorkload.decoding) else { return [] }
        let cities = try City.all()
        var ours = CodecRun(CBORCodec())
        var theirs = CodecRun(JSONCodec())
        try ours.prepare(cities)
        try theirs.prepare(cities)
        // The first round is a warm-up.
        for run in 0...plan.runs {
            if run > 0 { plan.say("P4: run \(run) of \(plan.runs)") }
            try ours.measure(cities, counts: run > 0)
            try theirs.measure(cities, counts: run > 0)
        }
        return [[ours.encoding, theirs.encoding], [ours.decoding, theirs.decoding]]
            .filter { plan.wants($0[0].workload) }.flatMap(CodecWorkload.judged)
    }

    private static func judged(_ results: [Measurement]) -> [Measurement] {
        var results = results
        let ratio = results[1].median / results[0].median
        results[1].ratio = ratio
        results[1].verdict = .faster(by: 5, ratio: ratio)
        return results
    }
}

/// Encodes cities into newly allocated bytes, and decodes them.
private protocol CityCodec {
    associatedtype Bytes: Collection

    var name: String { get }
    func encode(_ city: City) throws -> Bytes
    func decode(_ bytes: Bytes) throws -> City
}

/// The results of a codec.
private struct CodecRun<Codec: CityCodec> {
    private let codec: Codec
    private var encodings: [Codec.Bytes] = []
    private(set) var encoding: Measurement
    private(set) var decoding: Measurement

    init(_ codec: Codec) {
        self.codec = codec
        encoding = Measurement(CodecWorkload.encoding, codec.name)
        decoding = Measurement(CodecWorkload.decoding, codec.name)
    }

    /// Checks that all cities decode equal.
    mutating func prepare(_ cities: [City]) throws {
        encodings = try cities.map(codec.encode)
        guard try encodings.map(codec.decode) == cities else {
            throw BenchmarkError("P4: \(codec.name) does not give back the cities")
        }
    }

    mutating func measure(_ cities: [City], counts: Bool) throws {
        // Results are used, so that no call is optimized away.
        var bytes = 0
        let encodingTime = try Clock.processorNanoseconds {
            for city in cities { bytes += try codec.encode(city).count }
        }
        var names = 0
        let decodingTime = try Clock.processorNanoseconds {
            for encoding in encodings { names += try codec.decode(encoding).alternatenames.count }
        }
        guard names == cities.reduce(0, { $0 + $1.alternatenames.count }) else {
            throw BenchmarkError("P4: \(codec.name) lost names")
        }
        guard counts else { return }
        encoding.add(nanoseconds: encodingTime, ops: cities.count, bytes: bytes)
        decoding.add(nanoseconds: decodingTime, ops: cities.count, bytes: bytes)
    }
}

private struct CBORCodec: CityCodec {
    let name = "Vellum, CBOR"
    private let encoder = CBOREncoder()
    private let decoder = CBORDecoder()

    func encode(_ city: City) throws -> [UInt8] { try encoder.encode(city) }
    func decode(_ bytes: [UInt8]) throws -> City { try decoder.decode(City.self, from: bytes) }
}

private struct JSONCodec: CityCodec {
    let name = "Foundation, JSON"
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    func encode(_ city: City) throws -> Data { try encoder.encode(city) }
    func decode(_ bytes: Data) throws -> City { try decoder.decode(City.self, from: bytes) }
}
