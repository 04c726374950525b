/// An import statement of Swift, or a C include.
struct Import: Equatable {
    /// The module, without the part after a dot; for C, the included header's path.
    let module: String
    /// With the submodule or the declaration: `Darwin.ncurses`.
    let full: String
    let line: Int
}

extension SourceFile {
    /// Every import in the code, in any form.
    var imports: [Import] {
        let code = code
        let statement =
            /(?:^|;)[ \t]*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:typealias|struct|class|actor|enum|protocol|let|var|func)\s+)?((?:`?\w+`?)(?:\.`?\w+`?)*)/
            .anchorsMatchLineEndings()
        // Most of a file is after its last import, whose module may be on a separate line.
        let lines = code.numberedLines.map(\.line)
        guard let last = lines.lastIndex(where: { $0.has("import") }) else { return [] }
        let end = lines[min(last + 3, lines.count - 1)].endIndex
        return code[..<end].matches(of: statement).map { match in
            let full = match.output.1.filter { $0 != "`" }
            return Import(
                module: String(full.prefix { $0 != "." }), full: String(full),
                line: code.lineNumber(at: match.output.1.startIndex))
        }
    }

    /// Every header that C code includes.
    var includes: [Import] {
        let include = /^[ \t]*#[ \t]*(?:include|import)[ \t]*[<"]([^>"]+)[>"]/
        return uncommented.numberedLines.compactMap { number, line in
            guard let match = line.firstMatch(of: include) else { return nil }
            let header = String(match.output.1)
            return Import(module: header, full: header, line: number)
        }
    }
}

enum ImportRules {
    /// Imports against the directions of the table, and curses outside its modules.
    static func violations(in files: [SourceFile], table: ModuleTable) -> [Violation] {
        files.flatMap { file -> [Violation] in
            if file.isUnder("Tests") { return testImports(file) }
            guard let module = file.module, table.allowed[module] != nil else { return [] }
            let objections =
                file.path.hasSuffix(".swift")
                ? swiftImports(file, module, table) : cIncludes(file, module, table)
            return objections + mentionsOfCurses(file, module, table)
        }
    }

    private static func swiftImports(_ file: SourceFile, _ module: String, _ table: ModuleTable)
        -> [Violation]
    {
        file.imports.compactMap { statement in
            let rule =
                table.violation(of: statement.module, in: module)
                ?? table.confinement(of: statement.module, in: module, at: file.path)
            return rule.map { Violation(path: file.path, line: statement.line, rule: $0) }
        }
    }

    private static func cIncludes(_ file: SourceFile, _ module: String, _ table: ModuleTable) -> [Violation] {
        file.includes.flatMap { include -> [Violation] in
            // "../../CNcurses/include/CNcurses.h" is an include of the module, too.
            let parts = Set(include.full.split(separator: "/").map { $0.replacing(/\.h$/, with: "") })
            return parts.sorted().compactMap { part in
                let rule = table.violation(of: String(part), in: module)
                return rule.map { Violation(path: file.path, line: include.line, rule: $0) }
            }
        }
    }

    /// The command names the backend; no other module may.
    private static func mentionsOfCurses(
        _ file: SourceFile, _ module: String, _ table: ModuleTable
    ) -> [Violation] {
        if table.curses.contains(module) { return [] }
        let rule = "only \(table.curses.sorted().joined(separator: " and ")) may know curses"
        let lines: [Int]
        if table.allowed[module]?.isDisjoint(with: table.curses) == false {
            lines = file.imports.filter {
                $0.full.lowercased().contains("curses") && !table.curses.contains($0.module)
            }.map(\.line)
        } else {
            let text = file.path.hasSuffix(".swift") ? file.code : file.uncommented
            lines = text.numberedLines.filter { $0.line.lowercased().contains("curses") }.map(\.number)
        }
        return lines.map { Violation(path: file.path, line: $0, rule: rule) }
    }

    private static func testImports(_ file: SourceFile) -> [Violation] {
        let foreign = file.imports.filter { $0.module == "XCTest" }
            .map { ($0.line, "tests use Swift Testing; XCTest would not be run") }
        let testable = file.code.numberedLines.filter { $0.line.contains("@testable") }
            .map { ($0.number, "tests use package access, not @testable") }
        return (foreign + testable).map { Violation(path: file.path, line: $0.0, rule: $0.1) }
    }
}
