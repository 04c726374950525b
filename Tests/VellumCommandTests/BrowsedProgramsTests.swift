import Foundation
import Testing

/// The real program on a terminal with a pager, an editor and a clipboard.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct BrowsedProgramsTests {
    let store: TestStore

    init() throws {
        store = TestStore()
        try store.done("put", "City", "oslo", input: "{\"name\":\"Oslo\",\"size\":709037}")
        try store.done("expire", "City", "oslo", "--in", "1h", "--yes")
    }

    /// Writes an executable script that serves as a pager or an editor.
    private func program(_ name: String, _ script: String) throws -> String {
        let path = try store.folder.file(name, "#!/bin/sh\n" + script)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        return path
    }

    /// Opens the entries and types the keys of each step after its text is shown.
    private func run(
        _ environment: [String: String], _ steps: [(shown: String, keys: String)],
        location: SourceLocation = #_sourceLocation
    ) async throws -> (status: Int32, text: String) {
        let variables = ["TMUX": "", "STY": "", "VISUAL": "", "TMPDIR": store.folder.path]
            .merging(environment) { $1 }
        // Only the pane of an entry shows the last text.
        return try await PseudoTerminal.run(
            "--store '\(store.path)'", typing: [("City", "\r"), ("CBOR, 21 B", "")] + steps,
            environment: variables,
            location: location)
    }

    /// The browser's files in the folder for temporary files.
    private var leftovers: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: store.folder.path)) ?? [])
            .filter { $0.hasPrefix("vellum-") }
    }

    @Test func pagerUsesTerminal() async throws {
        let log = store.folder / "log"
        // The pager changes the terminal's modes and ends with an error.
        let pager = try program(
            "pager",
            "cat \"$1\" >'\(log)'; stat -c %a \"$1\" >>'\(log)'; stty -echo; printf '\\033[?25l\\033[31m'; exit 4"
        )
        let (status, text) = try await run(["PAGER": pager], [("oslo", "o"), ("exit code 4", "\u{3}")])
        #expect(status == 0)
        let read = try String(contentsOfFile: log, encoding: .utf8)
        #expect(read.contains("\"name\": \"Oslo\"") && read.hasSuffix("600\n"))
        #expect(text.contains("ended with exit code 4"))
        let entries = text.components(separatedBy: "\u{1b}[?1049h")
        #expect(entries.count == 3, "the screen was not left and entered again")
        #expect(leftovers.isEmpty)
    }

    @Test(
        "removes the pager's file if a signal ends the browser before the pager",
        arguments: SignalTests.signals)
    func removesPagerFileOnSignal(signal: Int32, status: Int32) async throws {
        let pager = try program("pager", "echo 'the pager waits'; read line")
        let pidFile = store.folder / "pid"
        let browser = try PseudoTerminal.start(
            "--store '\(store.path)'",
            environment: ["TMUX": "", "STY": "", "TMPDIR": store.folder.path, "PAGER": pager],
            pidFile: pidFile)
        for (shown, keys) in [("City", "\r"), ("CBOR, 21 B", "o"), ("the pager waits", "")] {
            try await browser.until(shown) { browser.text.contains(shown) }
            if !keys.isEmpty { browser.type(keys) }
        }
        #expect(leftovers.count == 1)
        let pid = try PseudoTerminal.pid(in: pidFile)
        // The end of the terminal ends the pager.
        kill(pid, signal)
        try await browser.until("the file's end") { leftovers.isEmpty }
        _ = try await browser.finish()
    }

    @Test func storesEditWithExpiryTime() async throws {
        let editor = try program("editor", "sed -i s/Oslo/Kristiania/ \"$1\"")
        let (status, _) = try await run(
            ["EDITOR": editor], [("oslo", "\r"), ("709037", "e"), ("Kristiania", "y"), ("Stored", "\u{3}")])
        #expect(status == 0)
        #expect(
            try store.done("get", "City", "oslo", "--json").text
                == "{\"name\":\"Kristiania\",\"size\":709037}\n")
        #expect(try JSON.object(store.done("keys", "City", "--json").text)["expires"] is Double)
        #expect(leftovers.isEmpty)
    }

    @Test("a conflicting edit keeps both the stored entry and the edited text")
    func keepsBothOnConflict() async throws {
        let editor = try program(
            "editor",
            "sed -i s/Oslo/Kristiania/ \"$1\"; echo '{\"name\":\"other\"}' | '\(Vellum.executable.path)' --store '\(store.path)' put City oslo"
        )
        let (status, text) = try await run(
            ["EDITOR": editor],
            [("oslo", "\r"), ("709037", "e"), ("Kristiania", "y"), ("Not stored", "\r\u{3}")])
        #expect(status == 0)
        #expect(try store.done("get", "City", "oslo", "--json").text == "{\"name\":\"other\"}\n")
        #expect(text.contains("Not stored"))
        #expect(leftovers.count == 1)
    }

    @Test func showsOutputOfPipe() async throws {
        let (status, text) = try await run(
            [:],
            [
                ("oslo", "|"), ("pipe to", "grep -c Oslo"), ("c Oslo", "\r"), ("enter goes back", "\r"),
                ("oslo", "\u{3}"),
            ])
        #expect(status == 0)
        #expect(text.contains("[exit code 0; enter goes back to vellum]"))
        #expect(leftovers.isEmpty)
    }

    @Test func copiesThroughTerminal() async throws {
        let steps = [("oslo", "y"), ("Copy", "k"), ("Copied", "\r\u{3}")]
        #expect(try await run([:], steps).text.contains("\u{1b}]52;c;b3Nsbw==\u{7}"))
        let inside = try await run(["TMUX": "/tmp/tmux-0/default,1,0"], steps).text
        #expect(inside.contains("\u{1b}Ptmux;\u{1b}\u{1b}]52;c;b3Nsbw==\u{7}\u{1b}\\"))
        let without = [("oslo", "y"), ("Copy", "k"), ("clipboard", "\r\u{3}")]
        #expect(try await !run(["TERM": "vt100"], without).text.contains("]52;"))
    }

    @Test func columnsGraphsAndSavedQueries() async throws {
        let state = store.folder / "state"
        let (_, text) = try await run(
            ["XDG_STATE_HOME": state],
            [
                ("oslo", "C"), ("Show or hide", " "), ("x", "\u{1b}"), ("Help", "T"), ("expiries", "A"),
                ("alarm when", "> 100%\r"), ("it is never", "\u{15}< 80%\r"), ("The bell rings", "hQ"),
                ("for example", "limit 3\u{13}"), ("save as", "few\r"), ("Saved as few", "\u{0f}"),
                ("Saved queries", "\u{3}"),
            ])
        #expect(text.contains("few"))
        let columns = try String(contentsOfFile: state + "/vellum/columns", encoding: .utf8)
        #expect(columns.contains("\"name\""))
        let saved = try String(contentsOfFile: state + "/vellum/saved-queries", encoding: .utf8)
        #expect(saved.contains("limit 3"))
    }
}
