/// A target as Package.swift declares it.
struct DeclaredTarget: Equatable {
    struct Dependency: Equatable {
        let name: String
        let line: Int
    }

    let name: String
    let line: Int
    let isTest: Bool
    let dependencies: [Dependency]
}

/// Rules about Package.swift. Reads its text, since `swift package dump-package` would wait for the lock of the running
/// tests.
enum ManifestRules {
    static func violations(in manifest: SourceFile, table: ModuleTable) -> [Violation] {
        let targets = declaredTargets(in: manifest)
        return unsafeFlags(manifest) + dependencies(of: targets, manifest, table)
    }

    /// A package with unsafe flags can't be another package's versioned dependency.
    private static func unsafeFlags(_ manifest: SourceFile) -> [Violation] {
        manifest.code.numberedLines.filter { $0.line.contains(/\bunsafeFlags\b/) }
            .map { Violation(path: manifest.path, line: $0.number, rule: "no unsafeFlags") }
    }

    private static func dependencies(
        of targets: [DeclaredTarget], _ manifest: SourceFile, _ table: ModuleTable
    ) -> [Violation] {
        targets.filter { !$0.isTest }.flatMap { target -> [Violation] in
            guard table.allowed[target.name] != nil else {
                let rule = "target \(target.name) has no row in ModuleTable"
                return [Violation(path: manifest.path, line: target.line, rule: rule)]
            }
            return target.dependencies.compactMap { dependency in
                let rule = table.violation(of: dependency.name, in: target.name)
                return rule.map { Violation(path: manifest.path, line: dependency.line, rule: $0) }
            }
        }
    }

    /// Every `.target(…)`, `.executableTarget(…)` and `.testTarget(…)`. A dependency's name is its first string: `"CBOR"`,
    /// `.target(name: "CBOR")` or `.product(name: "ArgumentParser", package: …)`.
    static func declaredTargets(in manifest: SourceFile) -> [DeclaredTarget] {
        let text = manifest.uncommented
        let declaration =
            /\.(target|executableTarget|testTarget|systemLibrary|macro|plugin)\s*\(\s*name:\s*"([^"]+)"/
        let array = /\bdependencies:\s*\[/
        // A dependency `.target(name:)` looks like a declaration, so each match starts after the previous declaration.
        var targets: [DeclaredTarget] = []
        var position = text.startIndex
        while let match = text[position...].firstMatch(of: declaration) {
            let end = closing(of: text[match.range.lowerBound...])
            let body = text[match.range.upperBound..<end]
            var found: [DeclaredTarget.Dependency] = []
            if let list = body.firstMatch(of: array) {
                let listEnd = closing(of: body[body.index(before: list.range.upperBound)...])
                found = elements(of: body[list.range.upperBound..<listEnd]).map {
                    .init(name: String($0.output.1), line: text.lineNumber(at: $0.range.lowerBound))
                }
            }
            targets.append(
                DeclaredTarget(
                    name: String(match.output.2), line: text.lineNumber(at: match.range.lowerBound),
                    isTest: match.output.1 == "testTarget" || body.contains(#"path: "Tests/"#),
                    dependencies: found))
            position = end
        }
        return targets
    }

    /// The targets of library products, whose public symbols others can use.
    static func libraries(in manifest: SourceFile) -> Set<String> {
        let product = /\.library\s*\(\s*name:\s*"[^"]+"\s*,\s*targets:\s*\[([^\]]*)\]/
        return Set(
            manifest.uncommented.matches(of: product).flatMap {
                elements(of: $0.output.1).map { String($0.output.1) }
            })
    }

    private static func elements(of list: Substring) -> [Regex<(Substring, Substring)>.Match] {
        list.matches(of: /(?:\.\w+\s*\(\s*name:\s*)?"([^"]+)"(?:\s*,\s*package:\s*"[^"]*")?/)
    }

    /// The index of the bracket that closes the first one, or the end.
    private static func closing(of text: Substring) -> String.Index {
        var depth = 0
        for index in text.indices {
            switch text[index] {
            case "(", "[": depth += 1
            case ")", "]":
                depth -= 1
                if depth == 0 { return index }
            default: break
            }
        }
        return text.endIndex
    }
}
