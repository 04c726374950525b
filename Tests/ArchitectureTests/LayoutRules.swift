/// Rules about files and folders.
enum LayoutRules {
    static let topLevel: Set<String> = [
        "Package.swift", "Sources", "Tests", "Assets", "README.md", "Makefile", "LICENSE",
    ]

    /// Files and folders that aren't allowed on the top level. Hidden files and files that git ignores are.
    static func topLevelViolations(_ names: [String], gitIgnore: String) -> [Violation] {
        let ignored = gitIgnore.numberedLines.map { String($0.line) }.filter {
            !$0.isEmpty && !$0.hasPrefix("#")
        }
        return names.filter { name in
            !topLevel.contains(name) && !ignored.contains { matches(name, ignorePattern: $0) }
        }.map {
            Violation(
                path: $0, line: nil,
                rule: "the top level has only \(topLevel.sorted().joined(separator: ", ")) and hidden files")
        }
    }

    /// A folder under `Sources` that isn't in the table, or a file beside the folders.
    static func sourcesViolations(_ names: [String], table: ModuleTable) -> [Violation] {
        names.filter { $0 != "ARCHITECTURE.md" && table.allowed[$0] == nil }.map {
            Violation(
                path: "Sources/\($0)", line: nil,
                rule: "no module of the table; give it a row in ModuleTable that says what it may import")
        }
    }

    /// The subset of git's patterns used on the top level: a name, `name/`, `*.ext`, `prefix-*/`.
    private static func matches(_ name: String, ignorePattern: String) -> Bool {
        let pattern = ignorePattern.split(separator: "/").first ?? ""
        guard ignorePattern.split(separator: "/").count == 1 else { return false }
        let parts = pattern.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return name == pattern }
        return name.count >= pattern.count - 1 && name.hasPrefix(parts[0]) && name.hasSuffix(parts[1])
    }
}
