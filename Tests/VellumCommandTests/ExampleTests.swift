import Foundation
import TestSupport
import Testing

/// The example package's program, inspected while it runs; and the package, built as by its users.
@Suite struct ExampleTests {
    /// Runs the program, which waits for a line after its work, and calls `meanwhile` before sending one.
    private func run(
        _ executable: String, store: String, meanwhile: () throws -> Void = {}
    ) throws -> Vellum.Result {
        let program = try Spawned(
            [], executable: executable, holdsInput: true, environment: ["VELLUM_STORE": store])
        try meanwhile()
        program.type("\n")
        return try program.result()
    }

    /// Waits until the program has read its last entry.
    private func waitForResults(in store: String) throws {
        let end = Date().addingTimeInterval(120)
        while Date() < end {
            let keys = try Vellum.run(["keys", "City", "--limit", "1", "--store", store])
            if keys.text.hasPrefix("City 49880\t") { return }
            Thread.sleep(forTimeInterval: 0.1)
        }
        Issue.record("the program had no results")
    }

    @Test func runsProgram() throws {
        try use(ChildProcess.program(named: "Cities"))
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak")) func buildsPackageSoak() throws {
        let (program, said) = try built("ExampleApp", as: "Cities")
        // Dependencies of other products are neither fetched nor built.
        #expect(!said.contains("TerminalKit") && !said.contains("ArgumentParser"))
        #expect(!said.contains("lifecycle"))
        try use(program)
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak")) func storeIsServiceSoak() throws {
        let (program, _) = try built("ServiceApp", as: "ServiceApp")
        let folder = TemporaryFolder()
        let server = try Spawned([folder / "store"], executable: program)
        #expect(holds { server.text == "serving\n" })
        server.signal(SIGTERM)
        let result = try server.result()
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text == "serving\nserver ended\nended, 2 kept\n")
    }

    /// Dependencies of other products, such as OpenCombine, aren't built.
    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak"), arguments: ["Nest", "Papyrus", "CacheAdvance"])
    func emptyPackageWithProductSoak(product: String) throws {
        let start = ContinuousClock.now
        let (program, _) = try built("\(product)App", as: "\(product)App")
        var figures = Figures("\(product) from an empty package")
        figures.add("seconds to build", Int((ContinuousClock.now - start).components.seconds))
        figures.report()
        let compiled = try FileManager.default.contentsOfDirectory(
            atPath: Vellum.root.appending(path: ".build/\(product)App/debug/Modules").path
        ).filter { $0.hasSuffix(".swiftmodule") }.map { String($0.prefix { $0 != "." }) }
        #expect(compiled.contains(product) && compiled.contains("StorageEngine"))
        #expect(compiled.contains { $0.contains("OpenCombine") } == (product == "Papyrus"), "\(compiled)")
        let others = [
            "ArgumentParser", "TerminalKit", "ArchiveQuery", "CoreMetrics", "ServiceLifecycle", "Vellum",
        ]
        #expect(compiled.allSatisfy { !others.contains($0) }, "\(compiled)")
        let folder = TemporaryFolder()
        let outputs = try (0..<2).map { _ in
            try Spawned(
                [folder / "log"], executable: program, environment: ["VELLUM_STORE": folder / "store"]
            ).result()
        }
        #expect(outputs.allSatisfy { $0.status == 0 }, "\(outputs.map(\.errors))")
        let expected = [
            "Nest": ["nothing there yet\nkept on disk\n", "still there: [\"age\": 36]\nkept on disk\n"],
            "Papyrus": ["0 cars\n1 cars\n", "1 cars\n"], "CacheAdvance": ["ready\n", "ready, ready\n"],
        ]
        for (output, beginning) in zip(outputs, expected[product] ?? []) {
            #expect(output.text.hasPrefix(beginning), "\(output.text)")
        }
    }

    /// Builds a package in a folder that is kept, as the first build takes minutes. Returns the program and the output.
    private func built(_ package: String, as program: String) throws -> (String, said: String) {
        let folder = Vellum.root.appending(path: ".build/\(package)").path
        let built = try ChildProcess.run(
            "/usr/bin/env",
            [
                "swift", "build", "--package-path", Vellum.root.appending(path: "Tests/\(package)").path,
                "--scratch-path", folder,
            ])
        let said = built.text + built.errors
        try #require(built.status == 0, "\(said)")
        #expect(!said.contains("warning:"), "\(said)")
        return (folder + "/debug/" + program, said)
    }

    private func use(_ executable: String) throws {
        let folder = TemporaryFolder()
        let store = folder / "store"
        let largest = "City 49880 999720\nCity 99760 999440\nCity 39020 999380\n"
        let first = try run(executable, store: store) {
            try waitForResults(in: store)
            let archives = try Vellum.run(["ls", "--store", store])
            #expect(archives.status == 0)
            #expect(archives.lines.first?.hasPrefix("City\tcache\tCities.City\t100000\t") == true)
            let keys = try Vellum.run(["keys", "City", "--limit", "3", "--store", store])
            #expect(
                keys.lines.map { $0.prefix { $0 != "\t" } } == ["City 49880", "City 99760", "City 39020"])
            let value = try Vellum.run(["get", "City", "City 10", "--json", "--store", store])
            #expect(
                value.text
                    == #"{"name":"City 10","country":"BR","population":79190,"rivers":["River 1"]}"# + "\n")
        }
        #expect(first.status == 0)
        #expect(first.text.hasPrefix("recorded 100,000 cities\n" + largest))

        let second = try run(executable, store: store).expect(0)
        #expect(second.text.hasPrefix("the cities are still there\n" + largest))
        #expect(second.text.contains(store))
    }
}
