import StoreInspection
import Testing

struct FoundPlacesTests {
    private func find(_ pattern: BytePattern?, in bytes: [UInt8], window: Int? = nil) throws -> [Range<Int>] {
        let pattern = try #require(pattern)
        let found = FoundPlaces.find(pattern, in: bytes.count, window: window, progress: { _ in true }) {
            Array(bytes[$0])
        }
        let places = try #require(found)
        #expect(places.count == places.places.count)
        return places.places
    }

    /// A match that lies across the edge of what is read at once is found, and none is found twice.
    @Test(arguments: 1...12) func matchesAcrossWindowsAreFound(window: Int) throws {
        let bytes = Array("xaaNeedleaaneedleneedLEyneedl".utf8)
        #expect(
            try find(BytePattern(text: "needle"), in: bytes, window: window) == [3..<9, 11..<17, 17..<23])
        #expect(try find(BytePattern(text: "aa"), in: Array("aaaaa".utf8), window: window) == [0..<2, 2..<4])
    }

    @Test(arguments: [
        ("łÓDŹ", "x Łódź", [2..<9]), ("東", "大東京", [3..<6]), ("STRASSE", "straße Strasse", [8..<15]),
        ("é", "É e\u{301}", [0..<2]), ("👩", "an 👩‍🚀", [3..<7]),
        // What broke: what is shown escaped wasn't found as it is shown.
        ("\\e[31M", "x \u{1b}[31m", [2..<7]), ("\\u{202E}A", "a\u{202e}abc", [1..<5]),
        ("\\n", "a\nb\\n", [3..<5]),
    ])
    func textIsFoundWhateverItsCase(text: String, whole: String, expected: [Range<Int>]) throws {
        #expect(try find(BytePattern(text: text), in: Array(whole.utf8)) == expected)
    }

    @Test func digitsAreBytesOrText() throws {
        let bytes: [UInt8] = [0xde, 0xad, 0x00] + Array("DEAD dead".utf8)
        #expect(try find(BytePattern(digitsOrText: "dead"), in: bytes) == [0..<2, 3..<7, 8..<12])
        #expect(try find(BytePattern(digitsOrText: "0xDEAD"), in: bytes) == [0..<2])
        #expect(try find(BytePattern(digitsOrText: "de ad 00"), in: bytes) == [0..<3])
        #expect(try find(BytePattern(digitsOrText: "ead"), in: bytes) == [4..<7, 9..<12])
        #expect(BytePattern(digitsOrText: "0xd") == nil)
        #expect(BytePattern(digitsOrText: "") == nil && BytePattern(text: "") == nil)
    }

    /// Many are counted, and as many are kept as is bounded.
    @Test func theNumberOfPlacesIsBounded() throws {
        let bytes = [UInt8](repeating: 0x61, count: FoundPlaces.most + 7)
        let pattern = try #require(BytePattern(text: "a"))
        let found = FoundPlaces.find(pattern, in: bytes.count, progress: { _ in true }) { Array(bytes[$0]) }
        #expect(found?.count == FoundPlaces.most + 7)
        #expect(found?.places.count == FoundPlaces.most)
    }

    @Test func stopsWhenTold() throws {
        let pattern = try #require(BytePattern(text: "a"))
        var readings = 0
        let found = FoundPlaces.find(pattern, in: 100, window: 10, progress: { $0 < 0.5 }) {
            range -> [UInt8]? in
            readings += 1
            return [UInt8](repeating: 0x61, count: range.count)
        }
        #expect(found == nil && readings == 5)
    }

    @Test func tellsWhatIsNearAPlace() throws {
        var found = FoundPlaces()
        for start in [10, 20, 30] { found.add(start..<start + 5) }
        #expect(found.first(from: 11) == 1 && found.first(from: 10) == 0 && found.first(from: 31) == 0)
        #expect(found.places(in: 12..<30) == [10..<15, 20..<25])
        #expect(found.places(in: 15..<20).isEmpty)
    }
}
