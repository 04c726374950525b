import ArchiveQuery
import Testing

@Suite("A query as Swift") struct SwiftSourceTests {
    @Test func typedQuery() throws {
        let pipeline = try QueryPipeline(
            #"find countrycode = "ID" and population > 1000000 | sort population desc, name | limit 10"#)
        #expect(
            try pipeline.swiftSource(archives: "cities") == """
                cities
                    .findWhere { archive in
                        archive.countrycode(.isEqual(with: "ID"))
                            .population(.greater(than: 1000000))
                    }
                    .sorted { by in
                        by.population(.descending)
                            .name(.ascending)
                    }
                    .limitResults(by: 10)
                    .getResults()
                """)
        #expect(try QueryPipeline("").swiftSource() == "archives.accessAll()")
    }

    @Test(arguments: [
        (#"name contains "a\"b\n""#, #"name(.contains(string: "a\"b\n"))"#),
        (#"name icontains "a""#, #"name(.contains(string: "a", caseSensitive: false))"#),
        (#"name matches "^\\d""#, #"name(.matches(regex: "^\\d"))"#),
        (#"tags has "a""#, #"tags(.contains(with: "a"))"#),
        (#"tags has any ["a", "b"]"#, #"tags(.contains(atLeastOne: ["a", "b"]))"#),
        (#"tags has all ["a", "b"]"#, #"tags(.contains(all: ["a", "b"]))"#),
        ("count(tags) >= 3", "tags(.countGreaterOrEqual(with: 3))"),
        ("address.city != null", "address.city(.isNotEqual(with: nil))"),
        ("a <= 1.5", "a(.lessOrEqual(with: 1.5))"), ("a in [1, 2]", "a(.isValid { [1, 2].contains($0) })"),
        ("a is null", "a(.isNil)"), ("a is not null", "a(.isNotNil)"), ("a is empty", "a(.isEmpty)"),
        ("a is not empty", "a(.isNotEmpty)"), ("a is null or empty", "a(.isNilOrEmpty)"),
        ("a > 5m", "a(.greater(than: 300))"), ("a < 2KB", "a(.less(than: 2000))"),
        ("a = 1970-01-02", "a(.isEqual(with: Date(timeIntervalSince1970: 86400.0)))"),
        ("a = true", "a(.isEqual(with: true))"),
        (#"a starts with "x""#, #"a(.isValid { $0.hasPrefix("x") })"#),
        (#"a ends with "x""#, #"a(.isValid { $0.hasSuffix("x") })"#),
        (#"a like "a.%_\\%""#, #"a(.matches(regex: "(?s)^a\\..*.%\\z"))"#),
        (#"a ilike "A""#, #"a(.matches(regex: "(?si)^a\\z"))"#),
    ])
    func conditions(text: String, swift: String) throws {
        let source = try QueryPipeline("find " + text).swiftSource()
        #expect(source.contains("archive." + swift + "\n"), "\(source)")
    }

    @Test(
        "or and not become operators, with parentheses where Swift's precedence needs them",
        arguments: [
            ("a = 1 or b = 2 and c = 3", ["archive.a(1)", "|| archive.b(2)", ".c(3)"]),
            ("not a = 1", ["!archive.a(1)"]),
            ("not (a = 1 or b = 2)", ["!(archive.a(1)", "|| archive.b(2))"]),
            ("not (a = 1 and b = 2)", ["!archive.a(1)", ".b(2)"]),
            ("(a = 1 or b = 2) and c = 3", ["(archive.a(1)", "|| archive.b(2))", "&& archive.c(3)"]),
            ("a = 1 and not b = 2", ["archive.a(1)", "&& !archive.b(2)"]),
        ])
    func combinedConditions(text: String, lines: [String]) throws {
        let source = try QueryPipeline("find " + text).swiftSource()
            .replacing("(.isEqual(with: ", with: "(").replacing("))", with: ")")
        let found = source.split(separator: "\n")[2...].dropLast(2)
        #expect(found.map { line in String(line.drop { $0 == " " }) } == lines)
    }

    @Test(arguments: [
        "find a = 1 or @size > 1", "find not @size > 1", "find @size > 1", "find a[0] = 1", "select a",
        "skip 1",
        "count", "group by a", "distinct a", "find \"odd name\" = 1", "sort @key", "find count(a) != 1",
        "find a > b", "find a + 1 > 2", "sort a * b", "find a[].b = 1", "find a = 1e400",
        "find a in [1, 1e400]",
    ])
    func inexpressibleQueries(text: String) throws {
        let pipeline = try QueryPipeline(text)
        #expect(throws: SwiftSourceUnavailable.self) { try pipeline.swiftSource() }
    }
}
