import Testing

/// Each rule reports violations with file and line, and nothing else.
@Suite struct ImportRulesTests {
    private func violations(_ path: String, _ text: String) -> [Violation] {
        ImportRules.violations(in: [SourceFile(path: path, text: text)], table: .vellum)
    }

    @Test(arguments: [
        ("import A", "A"),
        ("  @_exported import A", "A"),
        ("@preconcurrency\nimport A", "A"),
        ("@_spi(Some) package import A", "A"),
        ("public import A", "A"),
        ("package import A", "A"),
        ("internal import A", "A"),
        ("import struct A.B", "A"),
        ("import func A.b", "A"),
        ("import A.B", "A"),
        ("import `A`", "A"),
        ("import\n    A", "A"),
        ("#if os(Linux)\nimport A\n#endif", "A"),
        ("let x = 1; import A", "A"),
    ])
    func findsImports(text: String, module: String) {
        #expect(SourceFile(path: "Sources/M/a.swift", text: text).imports.map(\.module) == [module])
    }

    @Test(arguments: [
        "// import A", "/* import A */", "/*\nimport A\n*/", "let x = \"import A\"",
        "\"\"\"\nimport A\n\"\"\"", "#if canImport(A)\n#endif", "x.import(a)", "importer()",
    ])
    func ignoresOtherCode(text: String) {
        #expect(SourceFile(path: "Sources/M/a.swift", text: text).imports == [])
    }

    @Test func namesFileLineAndRule() throws {
        let found = violations(
            "Sources/StorageEngine/Log/Frame.swift", "// Frames.\nimport CPlatform\nimport CBOR\n")
        #expect(found.count == 1)
        let violation = try #require(found.first)
        #expect(
            violation.description
                == "Sources/StorageEngine/Log/Frame.swift:3: StorageEngine must not import CBOR; "
                + "of this package it may import: CPlatform, SystemC")
    }

    @Test(arguments: [
        ("StorageEngine", "CBOR"), ("StorageEngine", "TerminalKit"), ("StorageEngine", "Foundation"),
        ("StorageEngine", "FoundationEssentials"), ("TerminalKit", "StorageEngine"),
        ("CBOR", "StorageEngine"), ("TerminalCurses", "BrowserCore"), ("BrowserCore", "TerminalCurses"),
        ("BrowserCore", "CPlatform"), ("BrowserCore", "Vellum"), ("BrowserCore", "ArgumentParser"),
        ("VellumCommand", "CNcurses"), ("VellumCommand", "CPlatform"), ("ArchiveQuery", "Vellum"),
        ("Vellum", "Nest"), ("TerminalKit", "Curses"), ("VellumCommand", "Darwin.ncurses"),
        ("CBOR", "XCTest"),
    ])
    func forbids(importer: String, imported: String) {
        #expect(
            violations("Sources/\(importer)/a.swift", "import \(imported)")
                .map(\.line).contains(1))
    }

    @Test(arguments: [
        ("StorageEngine", "CPlatform"), ("StorageEngine", "SystemC"), ("StorageEngine", "Synchronization"),
        ("TerminalCurses", "CNcurses"), ("TerminalCurses", "TerminalKit"), ("BrowserCore", "StorageEngine"),
        ("BrowserCore", "ArchiveQuery"), ("BrowserCore", "Foundation"), ("VellumCommand", "TerminalCurses"),
        ("VellumCommand", "ArgumentParser"), ("VellumCommand", "Vellum"), ("Vellum", "StorageEngine"),
    ])
    func allows(importer: String, imported: String) {
        #expect(violations("Sources/\(importer)/a.swift", "import \(imported)") == [])
    }

    @Test func readsIncludesOfC() {
        let path = "Sources/CPlatform/lock.c"
        #expect(violations(path, "#include <pthread.h>\n#include \"CPlatform.h\"\n") == [])
        #expect(violations(path, "// #include \"CBOR.h\"\n") == [])
        #expect(violations(path, "\n#include \"../CBOR/x.h\"\n").map(\.line) == [2])
        #expect(violations(path, "#include <ncursesw/ncurses.h>\n").map(\.line) == [1])
        #expect(violations("Sources/CNcurses/shim.c", "#include <ncurses.h>\n") == [])
    }

    @Test("only the backend may name curses") func curses() {
        #expect(
            violations("Sources/BrowserCore/a.swift", "let x = 1\nlet y = initCurses()\n").map(\.line) == [2])
        #expect(violations("Sources/BrowserCore/a.swift", "// Knows no curses.\n") == [])
        #expect(violations("Sources/VellumCommand/a.swift", "let screen = CursesTerminal()\n") == [])
        #expect(violations("Sources/TerminalCurses/a.swift", "let screen = CursesTerminal()\n") == [])
    }

    @Test("tests use Swift Testing and package access") func testImports() {
        #expect(violations("Tests/CBORTests/a.swift", "import XCTest\n").map(\.line) == [1])
        #expect(violations("Tests/CBORTests/a.swift", "\n@testable import CBOR\n").map(\.line) == [2])
        #expect(violations("Tests/CBORTests/a.swift", "import CBOR\nimport Testing\n// @testable\n") == [])
    }

    @Test("the command imports the browser in one folder") func confinedImports() {
        let text = "import StoreInspection\nimport BrowserCore\n"
        #expect(violations("Sources/VellumCommand/Entries/a.swift", text).map(\.line) == [2])
        #expect(violations("Sources/VellumCommand/Browse/a.swift", text) == [])
    }

    @Test("finds a cycle in a table") func cycles() {
        let table = ModuleTable(
            allowed: ["A": ["B"], "B": ["C"], "C": ["A"]], restricted: [:], curses: [], confined: [:])
        #expect(table.cycle() == ["A", "B", "C", "A"])
    }
}
