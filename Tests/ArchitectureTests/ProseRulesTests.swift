import Testing

@Suite("Prose of comments, strings and documents") struct ProseRulesTests {
    private let rules: ProseRules
    private let word = "an" + "ew"

    init() throws {
        rules = try ProseRules(
            """
            [limits]
            Sources 50
            README.md 0
            [phrases]
            \\b\(word)\\b -> again
            [identifiers]
            Gadget -> Tool
            [exceptions]
            Sources/A/c.swift: Made
            """)
    }

    private func lines(_ path: String, _ text: String) -> [Int?] {
        rules.violations(in: [SourceFile(path: path, text: text)]).map(\.line)
    }

    @Test("finds a phrase in a comment block, a string and a paragraph")
    func phrases() {
        #expect(lines("Sources/A/a.swift", "let a = 1\n/// One\n/// made \(word).\n") == [2])
        #expect(lines("Sources/A/a.swift", "let a = \"it is made \(word)\"\n") == [1])
        #expect(lines("Sources/A/a.swift", "let \(word) = \"\(word)\"\n") == [])
        #expect(lines("README.md", "# A\n\nMade\n\(word).\n\n```\n\(word)\n```\n") == [3])
    }

    @Test("allows a share up to the limit, and exceptions")
    func limits() {
        #expect(lines("Sources/A/a.swift", "// Made \(word).\nlet a = 1\n// Fine.\n") == [])
        #expect(lines("Sources/A/c.swift", "// Made \(word).\n") == [])
        #expect(lines("Tests/A/a.swift", "// Made \(word).\n") == [])
    }

    @Test("finds a name as a whole word in code")
    func names() {
        let text = "let a = Gadget()\nlet b = Gadgets()\n// Gadget\n"
        #expect(rules.names(in: [SourceFile(path: "Sources/A/a.swift", text: text)]).map(\.line) == [1])
    }
}
