import Foundation
import Testing

@Suite("browse without a terminal")
struct BrowseTests {
    let store: TestStore

    init() throws {
        store = TestStore()
        let lines = [
            "{\"id\":\"alpha\",\"name\":\"München\"}", "{\"id\":\"beta\",\"name\":\"東京\"}",
            "{\"id\":\"gamma\",\"name\":\"\\u001b[31m\"}",
        ]
        try store.done("import", "City", "-", "--key", "id", input: lines.joined(separator: "\n"))
    }

    private func screen(_ arguments: String...) throws -> Vellum.Result {
        try Vellum.run(["browse", "--store", store.path] + arguments)
    }

    /// Regression: changes were offered, and refused at the end.
    @Test(.enabled(if: geteuid() == 0, "only root can change the owner of a store"))
    func unwritableStoreIsReadOnly() throws {
        #expect(try !screen("--size", "100x12").text.contains("READ ONLY"))
        let all = try FileManager.default.subpathsOfDirectory(atPath: store.path).map {
            store.path + "/" + $0
        }
        for path in [store.path] + all {
            try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: path)
        }
        let shown = try Vellum.run(
            ["browse", "--store", store.path, "--size", "100x12", "--keys", "<enter>D"],
            environment: ["VELLUM_TRUST_OWNER": "1"])
        #expect(shown.text.contains("READ ONLY") && shown.text.contains("another user"), "\(shown)")
    }

    @Test(arguments: ["<enter>Wn < 3<enter>", "<enter>Wn < 3", "<nokey>"])
    func explainsLessThanSign(keys: String) throws {
        let result = try screen("--size", "80x12", "--keys", keys)
        #expect(result.status == 2 && result.errors.contains("write <lt> for <"), "\(result)")
    }

    @Test(arguments: [
        "20x5", "40x10", "60x15", "80x24", "100x30", "120x20", "132x43", "200x50", "250x10", "300x80",
    ])
    func fitsEverySize(size: String) throws {
        let parts = size.split(separator: "x").compactMap { Int($0) }
        for keys in ["", "<enter>", "<enter><enter>", "?"] {
            let result = try screen("--size", size, "--keys", keys)
            #expect(result.status == 0, "\(result.errors)")
            let lines = result.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            #expect(lines.count == parts[1], "\(keys)")
            // These are the store's only wide characters.
            let widths = lines.map { line in line.reduce(0) { $0 + ("東京".contains($1) ? 2 : 1) } }
            #expect(widths.allSatisfy { $0 <= parts[0] }, "\(keys)")
            #expect(!result.text.unicodeScalars.contains { $0.value == 0x1b })
        }
    }

    @Test func acceptsFolderAsArgument() throws {
        let named = try Vellum.run(["browse", store.path, "--size", "100x12"])
        let expected = try screen("--size", "100x12").text
        #expect(named.status == 0 && named.text == expected)
        #expect(try Vellum.run([store.path, "--size", "100x12"]).text == named.text)
        let both = try Vellum.run(["browse", store.path, "--store", store.path, "--size", "100x12"])
        #expect(both.status == 2 && both.errors.contains("can't be combined"))
        // Regression: a folder without a store was reported as a damaged ring file.
        let parent = String(store.path[..<(try #require(store.path.lastIndex(of: "/")))])
        let none = try Vellum.run([parent, "--size", "100x12"])
        #expect(
            none.status != 0 && none.errors.contains("is not a store: the folder has no file vellum-store"))
    }

    @Test func browsingCountsNoAccess() throws {
        let before = try store.done("keys", "City", "--json").text
        #expect(try screen("--size", "100x30").text.contains("City"))
        let entries = try screen("--size", "100x30", "--keys", "<enter>").text
        for key in ["alpha", "beta", "gamma"] { #expect(entries.contains(key)) }
        let svg = try screen("--size", "80x24", "--print", "svg")
        #expect(svg.text.hasPrefix("<svg") || svg.text.hasPrefix("<?xml"))
        #expect(try screen("--size", "80x24", "--print", "ansi").text.contains("\u{1b}["))
        #expect(try store.done("keys", "City", "--json").text == before)
    }

    @Test func restoresTerminal() throws {
        let (status, text) = try PseudoTerminal.run("--store '\(store.path)'", input: "q")
        #expect(status == 0)
        // The key may arrive before the archives are read.
        #expect(text.contains("vellum › store"))
        // Enters and leaves the alternate screen.
        let entered = try #require(text.range(of: "\u{1b}[?1049h"))
        let left = try #require(text.range(of: "\u{1b}[?1049l"))
        #expect(entered.upperBound < left.lowerBound)
    }

    @Test func printsLinesOnDumbTerminal() async throws {
        let (status, text) = try await PseudoTerminal.run(
            "--store '\(store.path)' --lines",
            typing: [
                ("lists the keys", "\r"), ("entries: store City", "/gam"), ("gam", "\u{7f}m\r"),
                ("gamma, size", "D"),
                ("button Cancel", "\u{1b}"), ("gamma, size", "\u{0c}"), ("entries: store City", "\u{3}"),
            ], environment: ["TERM": "dumb"])
        #expect(status == 0, "\(text)")
        #expect(!text.contains("\u{1b}"), "not only text")
        #expect(text.contains("filter") && text.contains("gamma, size"))
    }

    @Test("refuses a terminal without screens, and names alternatives")
    func refusesDumbTerminal() async throws {
        let environment = ["TERM": "dumb"]
        let (status, text) = try PseudoTerminal.run("--store '\(store.path)'", environment: environment)
        #expect(status == 2, "\(text)")
        #expect(text.contains("dumb") && text.contains("can't show screens"), "\(text)")
        #expect(text.contains("browse --size 100x30 --print text"), "\(text)")
        #expect(text.contains("--lines needs no screen"), "\(text)")
        #expect(!text.contains("\u{1b}"))
        let lines = try await PseudoTerminal.run(
            "--store '\(store.path)' --lines", typing: [("lists the keys", "q")], environment: environment)
        #expect(lines.status == 0 && !lines.text.contains("\u{1b}"), "\(lines)")
    }

    @Test func replaysRecording() throws {
        let file = store.folder / "recording.cast"
        func record() throws -> (status: Int32, text: String) {
            try PseudoTerminal.run("--store '\(store.path)' --record '\(file)'", input: "q")
        }
        let (status, text) = try record()
        #expect(status == 0)
        #expect(text.contains("in \(file)"))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        // The last screen before leaving; replayed in another process without a terminal.
        let screen = try Vellum.run(["browse", "--replay", file, "--print", "text"]).expect(0)
        #expect(screen.text.contains("vellum › store"))
        let again = try record()
        #expect(again.status == 3)
        #expect(again.text.contains(file))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == bytes)
    }

    /// The tests may run on a terminal, so its type says that it has no screen.
    @Test func refusesRecordingWithoutTerminal() throws {
        let file = store.folder / "recording.cast"
        let environment = ["TERM": "dumb"]
        try Vellum.run(["browse", "--store", store.path, "--record", file], environment: environment).expect(
            2, errors: "without a terminal use browse --size 100x30 --print text")
        #expect(!FileManager.default.fileExists(atPath: file))
        let header = "{\"version\":2,\"width\":20,\"height\":5,\"timestamp\":0,\"title\":\"\"}\n"
        try Data(header.utf8).write(to: URL(fileURLWithPath: file))
        try Vellum.run(["browse", "--replay", file], environment: environment).expect(
            2, errors: "--print text")
        #expect(try Vellum.run(["browse", "--replay", file, "--print", "text"]).status == 0)
    }

    @Test func obeysNoColor() throws {
        let arguments = ["browse", "--store", store.path, "--size", "80x24", "--print", "ansi"]
        let text = try Vellum.run(arguments, environment: ["NO_COLOR": "1"]).text
        #expect(!text.contains("\u{1b}[38") && !text.contains(";38;") && !text.contains(";48;"))
    }

    @Test func reportsExitStatuses() throws {
        #expect(try screen("--keys", "x").status == 2)
        #expect(try screen("--size", "0x5").status == 2)
        #expect(try screen("--size", "80x24", "--keys", "<bogus>").status == 2)
        #expect(try Vellum.run(["browse", "--store", store.folder / "none", "--size", "80x24"]).status == 3)
    }
}
