import Foundation
import TestSupport
import Testing
import Vellum

/// `vellum` on a program's objects: types by name, values by their properties.
@Suite struct BrowsedTests {
    private struct Letter: ArchiveCodable {
        struct Address: Codable {
            var city: String
            var lines: [String]
        }

        enum State: String, Codable { case draft, sent }

        var primaryKey: String
        var id: UUID
        var written: Date
        var link: URL
        var seal: Data
        var weight: Decimal
        var pages: Int
        var cost: Double
        var isOpen: Bool
        var state: State
        var to: Address
        var copies: [Address]
        var note: String?
        var counts: [String: Int]
    }

    private struct Raw: Archivable {
        var primaryKey: String
        func archive() throws -> Data { Data("plain words".utf8) }
        static func deArchive(fromData data: Data) throws -> Archivable { Raw(primaryKey: "") }
    }

    private let store = TemporaryStore()

    init() throws {
        let factory = store.factory()
        let home = Letter.Address(city: "Jakarta", lines: ["Jalan 1", "Blok A"])
        try factory.archives(for: Letter.self).throwing.record(
            Letter(
                primaryKey: "first",
                id: try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")),
                written: Date(timeIntervalSince1970: 1_700_000_000.25),
                link: try #require(URL(string: "https://example.org/a?b=c")), seal: Data([0, 1, 254, 255]),
                weight: Decimal(string: "12.345") ?? 0, pages: -3, cost: 1.5, isOpen: true, state: .sent,
                to: home,
                copies: [home], note: nil, counts: ["a": 1]), options: .init(owner: "ada"))
        try factory.archives(for: Raw.self).throwing.record(Raw(primaryKey: "raw"))
    }

    /// The output of the built program.
    private func vellum(_ arguments: String...) throws -> String {
        let outcome = try ChildProcess.run(
            ChildProcess.program(named: "vellum"), arguments + ["--store", store.path])
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome.text
    }

    @Test("archives have the names of their types") func namesOfTypes() throws {
        let lines = try vellum("ls").split(separator: "\n")
        #expect(lines.first?.hasPrefix("Letter\tcache\tVellumTests.BrowsedTests.Letter\t1\t") == true)
        #expect(lines.last?.hasPrefix("Raw\tcache\tVellumTests.BrowsedTests.Raw\t1\t") == true)
        let keys = try vellum("keys", "Letter")
        #expect(keys.hasPrefix("first\t") && keys.contains("\tada\t"))
    }

    @Test("the command line prints typed objects as JSON") func valuesAsJSON() throws {
        let text = try vellum("get", "Letter", "first", "--json")
        #expect(
            text
                == #"{"primaryKey":"first","id":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F","written":1700000000.25,"#
                + #""link":"https://example.org/a?b=c","seal":"h'0001feff'","weight":12.345,"pages":-3,"cost":1.5,"#
                + #""isOpen":true,"state":"sent","to":{"city":"Jakarta","lines":["Jalan 1","Blok A"]},"#
                + #""copies":[{"city":"Jakarta","lines":["Jalan 1","Blok A"]}],"counts":{"a":1}}"# + "\n")
        #expect(try vellum("get", "Raw", "raw") == "plain words\n")
    }

    @Test("a value has its version") func versionsOfValues() throws {
        try store.factory().archives(for: Version3.Thing.self).throwing.record(.init("a", "first"))
        #expect(try vellum("get", "Thing", "a", "--json").hasPrefix(#"{"$version":3,"primaryKey":"a","#))
        #expect(try vellum("query", "Thing", "find $version = 3 | count", "--json").contains(#""count":1"#))
        #expect(try vellum("query", "Thing", "find $version < 3 | count", "--json").contains(#""count":0"#))
    }

    @Test("the browser shows dates, links, bytes and numbers in readable form")
    func valuesInTheBrowser() throws {
        let archives = try vellum("browse", "--size", "100x30", "--print", "text")
        #expect(archives.contains("Letter: VellumTests.BrowsedTests.Letter"))
        let value = try vellum(
            "browse", "--size", "100x40", "--keys", "<enter><enter>", "--print", "text")
        for line in [
            "CBOR, 243 B", #"primaryKey: "first""#, "id: E621E1F8-C36C-495A-93FC-0C247A3E6E5F",
            "written: 2023-11-14 22:13:20.25 UTC", #"link: "https://example.org/a?b=c""#,
            "seal: h'0001feff' 4 B", "weight: 12.345", "pages: -3", "cost: 1.5", "isOpen: true",
            #"state: "sent""#, #"city: "Jakarta""#,
        ] {
            #expect(value.contains(line), "\(line)\n\(value)")
        }
    }
}
