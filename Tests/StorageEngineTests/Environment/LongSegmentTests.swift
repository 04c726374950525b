import Foundation
import StorageEngine
import Testing

/// A segment file longer than 64 MiB must not be mapped over its neighbors.
@Suite struct LongSegmentTests {
    private let folder: TemporaryFolder
    private let segments: [String]

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .collection)
        for number in 0..<300 { try archive.put(repeated(5, 1000), forKey: "key \(number)") }
        archive.close()
        segments = try folder.segments()
    }

    private func expectAll(_ archive: Archive, _ comment: String) throws {
        #expect(try archive.entries().count == 300, "\(comment)")
        for number in 0..<300 {
            #expect(try archive.peek("key \(number)")?.count == 1000, "\(comment) \(number)")
        }
    }

    @Test("a repair shortens the file of a large entry that was cut at a multiple of 64 MiB") func cut()
        throws
    {
        let archive = try folder.archive("B", creating: .collection)
        try archive.put([1], forKey: "before")
        try archive.put([7] + repeated(0, 140 << 20) + [7], forKey: "large")
        try archive.put([2], forKey: "after")
        archive.close()
        let name = try folder.segments("B")[1]
        #expect(truncate(folder.archivePath("B", name), 128 << 20) == 0)
        #expect(try !folder.check("B").clean)
        try folder.repair("B")
        for rebuilds in [false, true] {
            let repaired = try rebuilds ? folder.rebuilt("B") : folder.archive("B")
            defer { repaired.close() }
            #expect(try repaired.check().problems == [])
            #expect(try Set(repaired.entries().keys) == ["before", "after"])
        }
    }

    @Test("reports an overlong segment and keeps all entries", arguments: [0, 1, -1], [false, true])
    func longSegment(place: Int, rebuilding: Bool) throws {
        try #require(segments.count > 3)
        let name = place < 0 ? segments[segments.count + place] : segments[place]
        #expect(truncate(folder.archivePath("A", name), 300 << 20) == 0)
        if rebuilding { try folder.removeIndex("A") }
        for mode in [AccessMode.readOnly, .readWrite] {
            try folder.withArchive(mode: mode) { archive in
                try expectAll(archive, "\(mode)")
                let problems = try archive.check().problems
                #expect(problems.contains { $0.contains(name) }, "\(problems)")
            }
        }
        let problems = try folder.repair().problems
        #expect(problems.contains { $0.contains(name) }, "\(problems)")
        let archive = try folder.archive()
        try expectAll(archive, "repaired")
        try archive.put([1], forKey: "more")
        #expect(try archive.check().problems == [])
    }
}

/// Segments of a copied store that were cut at the end of a frame.
@Suite struct CutSegmentTests {
    @Test(
        "reports a segment cut between frames", arguments: [true, false], [AccessMode.readOnly, .readWrite])
    func cutBetweenFrames(behindHeader: Bool, mode: AccessMode) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let making = try folder.archive(creating: .collection)
        for number in 0..<300 { try making.put(repeated(5, 1000), forKey: "key \(number)") }
        making.close()
        let name = try #require(try folder.segments().first)
        // A frame: 48 bytes, key and value, and up to the next multiple of 8.
        #expect(
            truncate(folder.archivePath("A", name), behindHeader ? 64 : 64 + (48 + 5 + 1000 + 7) & ~7) == 0)
        try folder.removeIndex("A")
        let archive = try folder.archive(mode: mode)
        let kept = try archive.entries().count
        #expect(kept < 300)
        let report = try archive.check()
        #expect(
            report.problems.contains { $0.contains(name) && $0.contains("its end is missing") }, "\(report)")
        archive.close()
        let problems = try folder.repair().problems
        #expect(problems.contains { $0.contains(name) }, "\(problems)")
        let repaired = try folder.archive()
        #expect(try repaired.entries().count == kept)
        try repaired.put([1], forKey: "more")
        #expect(try repaired.check().problems == [])
    }
}
