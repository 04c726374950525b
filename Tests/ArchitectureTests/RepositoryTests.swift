import Testing

/// The rules, applied to this package.
@Suite struct RepositoryTests {
    private let tree: SourceTree
    private let table = ModuleTable.vellum

    init() throws {
        tree = try SourceTree.ofThisPackage.get()
    }

    private func report(_ violations: [Violation]) {
        for violation in violations { Issue.record("\(violation)") }
    }

    /// With a wrong root, all other tests would pass.
    @Test("the source tree has this file and all modules") func sourceTree() {
        #expect(tree.files.contains { $0.path == "Tests/ArchitectureTests/RepositoryTests.swift" })
        #expect(tree.topLevel.contains("Package.swift"))
        let modules = Set(tree.files.filter { $0.isUnder("Sources") }.compactMap(\.module))
        #expect(
            modules.isSuperset(of: ["CPlatform", "CNcurses", "StorageEngine", "TerminalKit", "VellumCommand"])
        )
        #expect(ManifestRules.declaredTargets(in: tree.manifest).contains { $0.name == "VellumCommand" })
    }

    @Test("the module table has no cycle and no unknown module") func moduleTable() {
        #expect(table.cycle() == nil)
        let named = table.allowed.values.reduce(into: table.curses) { $0.formUnion($1) }
        #expect(named.isSubset(of: table.allowed.keys))
    }

    @Test("imports follow the module table") func imports() {
        report(ImportRules.violations(in: tree.files, table: table))
    }

    @Test("each folder of Sources is a module") func sourceFolders() {
        report(LayoutRules.sourcesViolations(tree.sourcesLevel, table: table))
    }

    @Test("the top level has only allowed files") func topLevel() {
        report(LayoutRules.topLevelViolations(tree.topLevel, gitIgnore: tree.gitIgnore))
    }

    @Test("the manifest follows the module table and has no unsafe flags") func manifest() {
        report(ManifestRules.violations(in: tree.manifest, table: table))
    }

    @Test("only products have public symbols") func publicSymbols() {
        let libraries = ManifestRules.libraries(in: tree.manifest)
        #expect(libraries.contains("StorageEngine") && !libraries.contains("BrowserCore"))
        report(TextRules.publicSymbols(in: tree.files, libraries: libraries))
    }

    @Test("tests that run only in a soak are found there")
    func soakNames() { report(SoakRules.violations(in: tree.files)) }

    @Test("files are short, without traps and open ends") func textRules() {
        report(TextRules.violations(in: tree.files))
    }

    @Test("keys have one spelling in texts and documents") func keyNames() {
        report(TextRules.keyNames(in: tree.files + tree.documents))
    }

    @Test(arguments: try ManifestRules.libraries(in: SourceTree.ofThisPackage.get().manifest).sorted())
    func publicDeclarationsAreDocumented(library: String) {
        report(DocumentationRules.undocumented(in: tree.files, library: library))
    }

    @Test("comments, strings and documents need no second reading")
    func prose() throws {
        let rules = try ProseRules.ofThisPackage()
        report(rules.violations(in: tree.files + tree.documents))
        report(rules.names(in: tree.files))
    }

    @Test("folders are small and refer to each other one way, types are in few files") func folders() {
        report(FolderRules.violations(in: tree.files, table: table))
    }

    @Test("names in comments exist") func references() {
        report(ReferenceRules.violations(in: tree.files, manifest: tree.manifest))
    }
}
