import StorageEngine

package struct SearchMatches: Sendable, Hashable {
    package static let most = 100_000
    /// Minimum bytes per read, because each read verifies the whole value.
    private static let window = 4 << 20
    private static let readings = 64

    /// The matches, ascending and without overlaps.
    package private(set) var places: [Range<Int>] = []
    package private(set) var count = 0

    package init() {}

    package mutating func add(_ place: Range<Int>) {
        count += 1
        if places.count < SearchMatches.most { places.append(place) }
    }

    package enum Wanted: Sendable {
        case bytes(BytePattern)
        case text(SearchText)
    }

    /// Searches bytes in windows, also across their edges. `read` returns the bytes of a range; `progress` gets the share
    /// done. If `read` returns nil or `progress` false, the search stops and returns nil.
    package static func find<Failure: Error>(
        _ wanted: Wanted, in total: Int, window given: Int? = nil,
        progress: (Double) -> Bool, read: (Range<Int>) throws(Failure) -> [UInt8]?
    ) throws(Failure) -> SearchMatches? {
        var search = Search(wanted)
        let window = given ?? max(SearchMatches.window, total / SearchMatches.readings)
        var start = 0
        while start < total {
            guard progress(Double(start) / Double(total)) else { return nil }
            let end = min(total, start + window)
            guard let bytes = try read(start..<min(total, end + search.overhang)) else { return nil }
            search.take(bytes, of: start..<end, isLast: end == total)
            start = end
        }
        return search.found
    }

    private struct Search {
        var found = SearchMatches()
        /// Maximum bytes of a match outside of the window in which it begins.
        let overhang: Int
        private let pattern: BytePattern?
        private var scan: TextScan?
        private var next = 0

        init(_ wanted: Wanted) {
            switch wanted {
            case .bytes(let pattern): (self.pattern, overhang) = (pattern, pattern.longest - 1)
            case .text(let text): (pattern, scan, overhang) = (nil, TextScan(text), 0)
            }
        }

        mutating func take(_ bytes: [UInt8], of window: Range<Int>, isLast: Bool) {
            scan?.take(bytes, isLast: isLast, into: &found)
            guard let pattern else { return }
            bytes.withUnsafeBufferPointer { bytes in
                var place = max(window.lowerBound, next)
                while place < window.upperBound, place - window.lowerBound < bytes.count {
                    if let length = pattern.length(in: bytes, at: place - window.lowerBound) {
                        found.add(place..<place + length)
                        place += length
                        next = place
                    } else {
                        place += 1
                    }
                }
            }
        }
    }

    /// The first match at or after a position, else the first match.
    package func first(from place: Int) -> Int? {
        guard !places.isEmpty else { return nil }
        let index = places.partitioningIndex { $0.lowerBound >= place }
        return index < places.count ? index : 0
    }

    package func places(in range: Range<Int>) -> ArraySlice<Range<Int>> {
        let first = places.partitioningIndex { $0.upperBound > range.lowerBound }
        let last = places.partitioningIndex { $0.lowerBound >= range.upperBound }
        return places[first..<max(first, last)]
    }
}
