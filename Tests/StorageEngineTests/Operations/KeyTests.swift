import Foundation
import StorageEngine
import Testing

/// Keys by prefix and owner, and sums per owner, without reading values.
@Suite struct KeyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func fill(_ folder: TemporaryFolder, count: Int = 300) throws -> Archive {
        let archive = try folder.archive("K", creating: .cache())
        for number in 0..<count {
            let owner = [nil, "User", "UserController", "é", "e\u{301}"][number % 5]
            try archive.put(
                repeated(1, number), forKey: "\(number % 3 == 0 ? "a" : "b")/\(number)",
                attributes: EntryAttributes(owner: owner))
        }
        return archive
    }

    private func sorted(_ keys: [String]) -> [String] {
        keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    @Test("pages contain all keys in order") func pages() throws {
        let archive = try fill(folder)
        let all = sorted(try archive.entries().keys)
        #expect(try archive.keys().keys == all)
        for limit in [1, 7, 100, 299, 300, 1_000] {
            var pages: [String] = []
            var query = KeyQuery(limit: limit)
            while true {
                let page = try archive.keys(query)
                #expect(page.keys.count <= limit)
                pages += page.keys
                guard page.hasMore else { break }
                query.after = page.keys.last
            }
            #expect(pages == all, "by \(limit)")
        }
        #expect(try archive.keys(KeyQuery(limit: 0)) == KeyPage(keys: [], hasMore: true, unreadable: 0))
    }

    @Test("prefixes are compared as bytes") func prefixes() throws {
        let archive = try fill(folder, count: 12)
        for key in ["é1", "e\u{301}2", "e", "日本", "日"] { try archive.put([1], forKey: key) }
        func keys(_ prefix: String) throws -> [String] { try archive.keys(KeyQuery(prefix: prefix)).keys }
        #expect(try keys("a/") == ["a/0", "a/3", "a/6", "a/9"])
        #expect(try keys("é").map { Array($0.utf8) } == ["é1"].map { Array($0.utf8) })
        #expect(try keys("e").count == 2)
        #expect(try keys("日") == ["日", "日本"])
        #expect(try keys("none") == [])
    }

    @Test("a query by recency ends at its limit") func recencyLimit() throws {
        let archive = try fill(folder)
        _ = try archive.access("a/3")
        let page = try archive.keys(KeyQuery(prefix: "a/", order: .recency, limit: 3))
        #expect(page == KeyPage(keys: ["a/3", "a/297", "a/294"], hasMore: true, unreadable: 0))
    }

    @Test("owners are compared as bytes") func owners() throws {
        let folder = try TemporaryFolder()
        let archive = try fill(folder)
        let owners = try archive.owners()
        #expect(owners.count == 5)
        for (place, owner) in [nil, "User", "UserController", "é", "e\u{301}"].enumerated() {
            let summary = owners.filter { $0.owner.map { Array($0.utf8) } == owner.map { Array($0.utf8) } }
            #expect(summary.map(\.entries) == [60])
            #expect(summary.first?.bytes == UInt64((0..<60).reduce(0) { $0 + 5 * $1 + place }))
            if let owner {
                let keys = try archive.keys(KeyQuery(owner: owner)).keys
                #expect(keys.count == 60)
                #expect(
                    try keys.allSatisfy {
                        Array(try #require(archive.metadata($0)?.owner).utf8) == Array(owner.utf8)
                    })
            }
        }
    }

    @Test("reports unreadable entries") func unreadable() throws {
        let archive = try fill(folder, count: 20)
        // The frame of the second entry of an owner: its key.
        try flip(folder.archivePath("K", "00000001.segment"), text: "a/6")
        let page = try archive.keys()
        #expect(page.unreadable == 1)
        #expect(page.keys.count == 19)
        let owners = try archive.owners()
        #expect(owners.first { $0.owner == "User" }?.unreadable == 1)
        #expect(owners.first { $0.owner == "User" }?.entries == 4)
        #expect(owners.first { $0.owner == nil }?.entries == 4)
    }
}
