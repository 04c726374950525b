import Testing

/// Each rule about texts, layout and manifest reports violations with file and line, and nothing else.
@Suite struct RulesTests {
    private func inSources(_ text: String) -> [Int?] {
        TextRules.violations(in: [SourceFile(path: "Sources/CBOR/a.swift", text: text)]).map(\.line)
    }

    @Test(arguments: ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) func findsMarkers(marker: String) {
        #expect(inSources("let a = 1\n// \(marker): later\n") == [2])
        #expect(inSources("let a = \"\(marker)\"\n// \(marker)ES and \(marker.lowercased())\n") == [])
    }

    @Test func findsTraps() {
        #expect(inSources("let a = try! b()\n") == [1])
        #expect(inSources("let a = try !b()\n") == [])
        #expect(inSources("\nlet a = b as! C\n") == [2])
        #expect(inSources("fatalError(\"no\")\n") == [1])
        #expect(inSources("let a = try? b() as? C // not try! but try?\nlet c = \"as! D\"\n") == [])
        #expect(inSources("// Unreachable: the switch above returns.\nfatalError()\n") == [])
        #expect(inSources("// Unreachable:\nfatalError()\n") == [2])
        #expect(TextRules.violations(in: [SourceFile(path: "Tests/a/a.swift", text: "try! b()\n")]) == [])
    }

    @Test func findsUnreachablePublicSymbols() {
        let text = "public struct A {}\npackage struct B {}\n// public\n"
        func lines(_ libraries: Set<String>) -> [Int?] {
            let file = SourceFile(path: "Sources/CBOR/a.swift", text: text)
            return TextRules.publicSymbols(in: [file], libraries: libraries).map(\.line)
        }
        #expect(lines([]) == [1])
        #expect(lines(["CBOR"]) == [])
    }

    @Test func findsOtherSpellingsOfKeys() {
        let text =
            "let a = \"Esc closes\"\nlet Enter = \"esc, enter, tab, ctrl+c\" // Tab\nlet b = \"ctrl-c\"\n"
        let file = SourceFile(path: "Sources/CBOR/a.swift", text: text)
        #expect(TextRules.keyNames(in: [file]).map(\.line) == [1, 3])
    }

    @Test func findsProcessesOfFoundation() {
        let text = "let a = Process()\nlet b = MyProcess()\n// Process()\n"
        #expect(
            TextRules.violations(in: [SourceFile(path: "Tests/a/a.swift", text: text)]).map(\.line) == [1])
        #expect(inSources(text) == [])
    }

    @Test func findsLongFiles() {
        let limit = TextRules.maximumLines
        #expect(inSources(String(repeating: "\n", count: limit)) == [])
        #expect(inSources(String(repeating: "\n", count: limit + 1)) == [limit + 1])
    }

    @Test func findsUnknownTopLevelFiles() {
        let ignore = "# built\nbench.json\n*.xcodeproj\nPackage.resolved\nTests/out\n"
        let names = [
            "Package.swift", "Sources", "README.md", "bench.json", "Vellum.xcodeproj", "notes.txt", "out",
        ]
        let found = LayoutRules.topLevelViolations(names, gitIgnore: ignore)
        #expect(found.map(\.path) == ["notes.txt", "out"])
    }

    @Test func findsUnknownModules() {
        let found = LayoutRules.sourcesViolations(
            ["ARCHITECTURE.md", "CBOR", "Helpers", "main.swift"], table: .vellum)
        #expect(found.map(\.path) == ["Sources/Helpers", "Sources/main.swift"])
    }

    @Test func findsSoakTestsWithOtherNames() {
        let gate = "@Test(.enabled(if: Soak.seconds > 0, \"why\"))"
        func names(_ text: String) -> [Substring] {
            SoakRules.violations(in: [SourceFile(path: "Tests/XTests/X.swift", text: text)])
                .map { $0.rule.prefix { $0 != " " } }
        }
        #expect(names("\(gate)\nfunc forever() {}\n\(gate) func stormSoak() {}") == ["forever"])
        #expect(names("@Test(\n.enabled(if: Soak.seconds > 0),\narguments: [1])\nfunc a() {}") == ["a"])
        #expect(names("@Suite(.enabled(if: Soak.seconds > 0)) struct Long {}") == ["Long"])
        #expect(names("@Test func a() { if Soak.seconds > 0 { more() } }\nfunc b() {}") == [])
        #expect(names("@Test func a() {}\nlet n = Soak.seconds > 0 ? 2 : 1\n@Test func b() {}") == [])
    }

    private let manifest = SourceFile(
        path: "Package.swift",
        text: """
            // unsafeFlags in a comment are harmless
            let package = Package(
                dependencies: [.package(url: "https://example.org/x", from: "1.0.0")],
                targets: [
                    .target(name: "CBOR"),
                    .target(
                        name: "StorageEngine",
                        dependencies: [
                            "CPlatform", .target(name: "CBOR"),
                            .product(name: "ArgumentParser", package: "x"),
                        ],
                        swiftSettings: [.unsafeFlags(["-Ounchecked"])]),
                    .executableTarget(name: "Helper", dependencies: ["CBOR"]),
                    .testTarget(name: "CBORTests", dependencies: ["CBOR", "TerminalKit"]),
                ])

            """)

    @Test func readsTheTargetsOfAManifest() {
        let targets = ManifestRules.declaredTargets(in: manifest)
        #expect(targets.map(\.name) == ["CBOR", "StorageEngine", "Helper", "CBORTests"])
        #expect(targets.map(\.line) == [5, 6, 13, 14])
        #expect(targets.map(\.isTest) == [false, false, false, true])
        #expect(
            targets.map { $0.dependencies.map(\.name) }
                == [[], ["CPlatform", "CBOR", "ArgumentParser"], ["CBOR"], ["CBOR", "TerminalKit"]])
    }

    @Test func findsWrongDeclarationsInAManifest() {
        let found = ManifestRules.violations(in: manifest, table: .vellum)
        #expect(found.map(\.line) == [12, 9, 10, 13])
        #expect(
            found.map { $0.rule.prefix(13) } == [
                "no unsafeFlag", "StorageEngine", "StorageEngine", "target Helper",
            ])
    }
}
