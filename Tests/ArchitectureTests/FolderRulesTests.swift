import Testing

/// Violations of the rules about folders are found, with their folder, and nothing else.
@Suite struct FolderRulesTests {
    private func violations(_ texts: [String: String]) -> [Violation] {
        let files = texts.sorted { $0.key < $1.key }.map {
            SourceFile(path: "Sources/M/\($0.key).swift", text: $0.value)
        }
        return FolderRules.violations(in: files, of: ["M"])
    }

    @Test(
        "types and functions of two folders that use each other are a cycle",
        arguments: [
            ("struct A { let b: B }", "struct B { let a: A? }"),
            ("func makeA() { makeB() }", "func makeB() { makeA() }"),
            (
                "enum A { case one(a: Int, b: Int), lastOne }\nlet a = b.isBusy",
                "struct B { var isBusy: Bool }\nlet b = A.lastOne"
            ),
            (
                "enum A: String { case one = \"1\", lastOne }\nlet a = b.isBusy",
                "struct B { var isBusy: Bool }\nlet b = c.lastOne"
            ),
            (
                "extension Int { func add(item a: Int) { sum(of: a) } }",
                "func sum(of b: Int) { 1.add(item: b) }"
            ),
        ])
    func findsCycles(low: String, high: String) {
        #expect(violations(["Low/a": low, "High/b": high]).map(\.path) == ["Sources/M/High"])
    }

    @Test("a cycle through a third folder is found")
    func findsLongCycles() {
        let found = violations([
            "A/a": "struct A { let b: B }", "B/b": "struct B { let c: C }", "C/c": "struct C { let a: A? }",
        ])
        #expect(found.map(\.path) == ["Sources/M/A"])
    }

    @Test("references in one direction are no cycle")
    func allowsOneDirection() {
        #expect(violations(["Low/a": "struct A {}", "High/b": "struct B { let a: A }"]) == [])
    }

    @Test(
        "names that several folders or Swift's types have are no references",
        arguments: [
            ("struct State {}\nstruct A {}", "private struct State { let a: A }"),
            ("struct Value {}\nfunc take<Result>(_ a: Result) {}", "struct Result {}\nlet a = Value()"),
            ("struct A { let b = [1].map(f) }", "func map(_ a: A) {}"),
            ("struct A { let b = [1].isEmpty }", "extension A { var isEmpty: Bool { true } }"),
            ("struct A {}\nlet busy = 1\nfunc b() { busy(since: 2) }", "func busy(since: Int) -> A { A() }"),
        ])
    func ignoresCommonNames(low: String, high: String) {
        #expect(violations(["Low/a": low, "High/b": high]) == [])
    }

    @Test("a folder with 21 files and a type in 13 files are found")
    func findsLargeFoldersAndTypes() {
        var texts = ["F/0": "struct A {}"]
        for number in 1..<20 { texts["F/\(number)"] = "let a\(number) = 1" }
        for number in 1..<12 { texts["G/\(number)"] = "extension A { func b\(number)() {} }" }
        #expect(violations(texts) == [])
        texts["F/20"] = ""
        texts["G/12"] = "extension A {}"
        #expect(violations(texts).map(\.path) == ["Sources/M/F", "Sources/M/F/0.swift"])
    }
}
