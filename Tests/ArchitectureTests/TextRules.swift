/// Rules about the text of single files.
enum TextRules {
    /// A longer file has more than one concern.
    static let maximumLines = 600

    static func violations(in files: [SourceFile]) -> [Violation] {
        files.flatMap { tooLong($0) + markers($0) + traps($0) + processes($0) }
    }

    private static func tooLong(_ file: SourceFile) -> [Violation] {
        let lines = file.text.utf8.count { $0 == UInt8(ascii: "\n") }
        guard lines > maximumLines else { return [] }
        return [
            Violation(
                path: file.path, line: maximumLines + 1,
                rule: "\(lines) lines; a file has at most \(maximumLines): one file, one concern")
        ]
    }

    /// Public symbols in a module that is no product, which can't be used from outside.
    static func publicSymbols(in files: [SourceFile], libraries: Set<String>) -> [Violation] {
        files.filter { $0.isUnder("Sources") && $0.path.hasSuffix(".swift") }.flatMap { file -> [Violation] in
            guard let module = file.module, !libraries.contains(module) else { return [] }
            return file.code.numberedLines.filter {
                $0.line.has("public") && $0.line.contains(/\bpublic\b/)
            }.map {
                Violation(
                    path: file.path, line: $0.number,
                    rule: "\(module) is no product: package instead of public")
            }
        }
    }

    /// Open tasks belong in documents.
    private static func markers(_ file: SourceFile) -> [Violation] {
        let marker = /\b(?:TODO|FIXME|XXX|HACK)\b/
        return file.comments.numberedLines.compactMap { number, line in
            guard ["TODO", "FIXME", "XXX", "HACK"].contains(where: line.has),
                let match = line.firstMatch(of: marker)
            else { return nil }
            return Violation(path: file.path, line: number, rule: "no \(match.output) in comments")
        }
    }

    /// Traps are forbidden in products, since a hostile file or a full disk must give an error, unless a comment on the line
    /// or the one above begins with "Unreachable:" and a reason.
    private static func traps(_ file: SourceFile) -> [Violation] {
        guard file.isUnder("Sources"), file.path.hasSuffix(".swift") else { return [] }
        let trap = /\btry!|\bas\s*!|\bfatalError\s*\(/
        let reasons = Set(
            file.comments.numberedLines.filter {
                $0.line.has("Unreachable:") && $0.line.contains(/\/\/\s*Unreachable: \S/)
            }.map(\.number))
        return file.code.numberedLines.compactMap { number, line in
            guard ["!", "fatalError"].contains(where: line.has), let match = line.firstMatch(of: trap) else {
                return nil
            }
            if reasons.contains(number) || reasons.contains(number - 1) { return nil }
            return Violation(
                path: file.path, line: number,
                rule: "no \(match.output) in Sources without a comment \"Unreachable: why\"")
        }
    }

    /// Keys that texts and documents don't spell as the browser prints keys: `esc`, `enter`, `tab`, `ctrl+c`.
    static func keyNames(in files: [SourceFile]) -> [Violation] {
        let name = /\b(?:Esc|Escape|Enter|Tab|Backspace|Ctrl|ctrl-|Control-[A-Z])\b/
        return files.filter { !$0.isUnder("Tests") }.flatMap { file in
            (file.path.hasSuffix(".md") ? file.text : file.strings).numberedLines.compactMap { number, line in
                line.firstMatch(of: name).map {
                    Violation(path: file.path, line: number, rule: "key \($0.output): lower case, ctrl+x")
                }
            }
        }
    }

    /// Foundation's class sometimes never reports the end of a process, or keeps another's pipe open, so that a test never
    /// ends.
    private static func processes(_ file: SourceFile) -> [Violation] {
        guard file.isUnder("Tests"), file.path.hasSuffix(".swift") else { return [] }
        return file.code.numberedLines.compactMap { number, line in
            guard line.has("Process()"), line.contains(/\bProcess\(\)/) else { return nil }
            return Violation(
                path: file.path, line: number, rule: "no Process of Foundation in Tests: use ChildProcess")
        }
    }
}
