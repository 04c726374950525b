/// Rules about tests that run only in a soak.
enum SoakRules {
    /// `make soak` selects tests by name: a test with another name would never run.
    static func violations(in files: [SourceFile]) -> [Violation] {
        let gated =
            /@(?:Test|Suite)\b(?:(?!@Test\b|@Suite\b|\bfunc\b|\bstruct\b|\bclass\b)[\s\S])*?\bSoak\.seconds\s*>\s*0(?:(?!@Test\b|@Suite\b|\bfunc\b|\bstruct\b|\bclass\b)[\s\S])*?\b(?:func|struct|class)\s+(\w+)/
        return files.filter { $0.isUnder("Tests") && $0.path.hasSuffix(".swift") && $0.text[...].has("Soak") }
            .flatMap { file -> [Violation] in
                let code = file.code
                return code.matches(of: gated).filter { !$0.output.1.hasSuffix("Soak") }.map { match in
                    Violation(
                        path: file.path, line: code.lineNumber(at: match.output.1.startIndex),
                        rule:
                            "\(match.output.1) runs only in a soak, which selects by name: the name must end with Soak"
                    )
                }
            }
    }
}
