/// Rules about names in comments.
enum ReferenceRules {
    /// Symbols in double backquotes that nothing declares, and source files in backquotes that don't exist.
    static func violations(in files: [SourceFile], manifest: SourceFile) -> [Violation] {
        let symbols = DeclaredSymbols(in: files)
        let names = Set((files + [manifest]).map { $0.path.split(separator: "/").last ?? "" })
        return files.flatMap { file in
            file.comments.numberedLines.filter { $0.line.has("`") }.flatMap { number, line in
                (unknownSymbols(in: line, symbols) + unknownFiles(in: line, names)).map {
                    Violation(path: file.path, line: number, rule: $0)
                }
            }
        }
    }

    private static func unknownSymbols(in line: Substring, _ symbols: DeclaredSymbols) -> [String] {
        guard line.has("``") else { return [] }
        return line.matches(of: /``([^`]+)``/).map(\.output.1).filter { !symbols.contain($0) }
            .map { "nothing declares ``\($0)``" }
    }

    private static func unknownFiles(in line: Substring, _ names: Set<Substring>) -> [String] {
        guard line.has(".swift`") else { return [] }
        return line.matches(of: /`([A-Za-z0-9_+]+\.swift)`/).map(\.output.1).filter { !names.contains($0) }
            .map { "there is no file \($0)" }
    }
}
