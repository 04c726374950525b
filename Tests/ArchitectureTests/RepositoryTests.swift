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

    /// Without this, a wrong root would make every other test pass.
    @Test func theWalkSeesThisFileAndEveryModule() {
        #expect(tree.files.contains { $0.path == "Tests/ArchitectureTests/RepositoryTests.swift" })
        #expect(tree.topLevel.contains("Package.swift"))
        let modules = Set(tree.files.filter { $0.isUnder("Sources") }.compactMap(\.module))
        #expect(
            modules.isSuperset(of: ["CPlatform", "CNcurses", "StorageEngine", "TerminalKit", "VellumCommand"])
        )
        #expect(ManifestRules.declaredTargets(in: tree.manifest).contains { $0.name == "VellumCommand" })
    }

    @Test func theTableHasNoCycleAndNamesOnlyItsModules() {
        #expect(table.cycle() == nil)
        let named = table.allowed.values.reduce(into: table.curses) { $0.formUnion($1) }
        #expect(named.isSubset(of: table.allowed.keys))
    }

    @Test func importsFollowTheDirections() {
        report(ImportRules.violations(in: tree.files, table: table))
    }

    @Test func everyFolderOfSourcesIsAModule() {
        report(LayoutRules.sourcesViolations(tree.sourcesLevel, table: table))
    }

    @Test func theTopLevelHasOnlyWhatBelongsThere() {
        report(LayoutRules.topLevelViolations(tree.topLevel, gitIgnore: tree.gitIgnore))
    }

    @Test func theManifestFollowsTheDirectionsAndHasNoUnsafeFlags() {
        report(ManifestRules.violations(in: tree.manifest, table: table))
    }

    @Test func whatIsNoProductHasNothingPublic() {
        let libraries = ManifestRules.libraries(in: tree.manifest)
        #expect(libraries.contains("StorageEngine") && !libraries.contains("BrowserCore"))
        report(TextRules.publicSymbols(in: tree.files, libraries: libraries))
    }

    @Test func whatRunsInASoakIsFoundThere() { report(SoakRules.violations(in: tree.files)) }

    @Test func filesAreShortFinishedAndDoNotTrap() {
        report(TextRules.violations(in: tree.files))
    }

    /// One module after the other, each with all that it lacks.
    @Test(arguments: try ManifestRules.libraries(in: SourceTree.ofThisPackage.get().manifest).sorted())
    func everyPublicDeclarationIsDocumented(library: String) {
        report(DocumentationRules.undocumented(in: tree.files, library: library))
    }

    @Test("comments, strings and documents need no second reading")
    func prose() throws {
        let rules = try ProseRules.ofThisPackage()
        report(rules.violations(in: tree.files + tree.documents))
        report(rules.names(in: tree.files))
    }

    @Test func whatCommentsNameExists() {
        report(ReferenceRules.violations(in: tree.files, manifest: tree.manifest))
    }
}
