import ArchiveQuery
import CBOR
import StorageEngine

/// Arbitrary text as a query, and the bytes after a NUL as its only entry: printed queries are parsed as the same,
/// errors have a place in the text, and no query fails on any value.
package struct QueryTarget: FuzzTarget {
    package static let name = "query"
    package init() {}

    package mutating func run(_ input: [UInt8]) throws -> String? {
        let parts = input.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        let text = String(decoding: parts[0], as: UTF8.self)
        let length = text.utf8.count
        for offset in [0, length / 2, length] { _ = QueryPipeline.completions(in: text, at: offset) }
        switch QueryPipeline.parse(text) {
        case .errors(let errors):
            if errors.isEmpty { return "no query and no error: \(text)" }
            for error in errors {
                let (range, place) = (error.range, error.place(in: text))
                if range.lowerBound < 0 || range.upperBound > length || place.line < 1 {
                    return "an error outside of the text: \(error)"
                }
            }
            return nil
        case .pipeline(let pipeline):
            _ = try? pipeline.swiftSource()
            let printed = pipeline.description
            guard case .pipeline(let again) = QueryPipeline.parse(printed), again == pipeline else {
                return "is parsed as something else: \(text) as \(printed)"
            }
            return try answer(pipeline, Array(parts.count > 1 ? parts[1] : []))
        }
    }

    private func answer(_ pipeline: QueryPipeline, _ value: [UInt8]) throws -> String? {
        let plan = QueryPlan(pipeline)
        for encoding in [ValueEncoding.cbor, .unknown] {
            do {
                let (rows, report) = try plan.rows(of: OneEntry(value: value, encoding: encoding))
                if report.rows != rows.count || report.visited > 1 { return "the report is wrong: \(report)" }
                if rows.contains(where: { $0.columns.count != plan.columns?.count ?? 0 }) {
                    return "a row has other columns than the plan: \(pipeline)"
                }
            } catch is QueryError {
                // An invalid regular expression.
            }
        }
        return nil
    }

    package static func seeds() -> [[UInt8]] {
        let queries = [
            #"find countrycode = "ID" and population > 1000000 | sort population desc, name | limit 10"#,
            #"find (a contains "x" or b.c[0] icontains "\u00e9") and not c matches "^a+" | select a, "odd name", @key"#,
            #"find t has any ["a", 1.5, null] and count(t) >= 2 and n between 1 and 2.5e3 | count, sum n, avg n"#,
            #"find d > 2026-01-31T09:05:00.5+02:00 or @idle > 5m or @size < 2KiB | group by a | max n | sort max"#,
            "skip 1 | distinct a.b | limit 3", "find a is null or empty and b in [true, 3d] | sum n by a",
            #"find (n + 2) * -3 / t[0] >= n - 1h and b.c[].x > 1 and t[] like "a%\\_" and not a starts with "x" | count distinct t[], median n"#,
            #"find a = ["odd name"] or 1970-01-01 + n > d | distinct a as x, t[] | percentile x 99.5 as p by x, n - 1"#,
        ]
        let values = [
            #"{"countrycode":"ID","population":8540121,"name":"Jakarta","a":{"b":["x",1,null]},"t":["a",2.5],"n":1e400}"#,
            #"{"a":"x","b":{"c":["é"]},"c":"aab","n":18446744073709551616,"odd name":[],"t":[]}"#, "[1]",
        ]
        return queries.enumerated().map { place, query in
            let value = (try? JSONTranscoder.cbor(from: values[place % values.count])) ?? []
            return Array(query.utf8) + [0] + value
        }
    }
}

/// An archive of one entry.
private struct OneEntry: QuerySource {
    let value: [UInt8]
    let encoding: ValueEncoding

    func cursor(in order: QueryScanOrder) -> any QueryCursor { OneEntryCursor(value, encoding) }
    func cursor(forKeys keys: [String]) -> any QueryCursor { OneEntryCursor(value, encoding) }
}

private final class OneEntryCursor: QueryCursor {
    private let content: UnsafeMutableRawBufferPointer
    let encoding: ValueEncoding
    private(set) var visited = 0
    let count = 1

    init(_ value: [UInt8], _ encoding: ValueEncoding) {
        content = .allocate(byteCount: value.count, alignment: 8)
        content.copyBytes(from: value)
        self.encoding = encoding
    }

    deinit { content.deallocate() }

    func advance() -> Bool {
        defer { visited = 1 }
        return visited == 0
    }

    func load() -> QueryCursorReading { .present }
    let key = "key"
    var keyBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
    var valueContent: UnsafeRawBufferPointer? { UnsafeRawBufferPointer(content) }
    var valueBytes: Int { content.count }
    let created = Timestamp(microseconds: 0)
    let accessed = Timestamp(microseconds: 0)
    let expires: Timestamp? = nil
    let hits: UInt32 = 0
    let sequence: UInt64 = 1
    let tier = Tier.disk
    let owner: String? = nil
    let rank: Int? = 1
    let recency: UInt64 = 1
}
