import Foundation
import Testing

/// The real program on a terminal with a pager, an editor and a clipboard.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct BrowsedProgramsTests {
    let store: TestStore

    init() throws {
        store = try TestStore()
        try store.done("put", "City", "oslo", input: "{\"name\":\"Oslo\",\"size\":709037}")
        try store.done("expire", "City", "oslo", "--in", "1h", "--yes")
    }

    /// A script that is run as a pager or an editor.
    private func program(_ name: String, _ script: String) throws -> String {
        let path = try store.folder.file(name, "#!/bin/sh\n" + script)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        return path
    }

    private func run(_ keys: String, _ environment: [String: String]) throws -> (status: Int32, text: String)
    {
        var variables = ["TMUX": "", "STY": "", "TMPDIR": store.folder.path, "VISUAL": ""]
        variables.merge(environment) { $1 }
        return try PseudoTerminal.run("--store '\(store.path)'", input: keys, environment: variables)
    }

    /// What the browser put into the folder for temporary files and left there.
    private var leftovers: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: store.folder.path)) ?? [])
            .filter { $0.hasPrefix("vellum-") }
    }

    @Test func thePagerHasTheTerminalAndTheBrowserComesBack() throws {
        let log = store.folder / "log"
        // It leaves the terminal in disorder and ends with an error.
        let pager = try program(
            "pager",
            "cat \"$1\" >'\(log)'; stat -c %a \"$1\" >>'\(log)'; stty -echo; printf '\\033[?25l\\033[31m'; exit 4"
        )
        let (status, text) = try run("\roq", ["PAGER": pager])
        #expect(status == 0)
        let read = try String(contentsOfFile: log, encoding: .utf8)
        #expect(read.contains("\"name\": \"Oslo\"") && read.hasSuffix("600\n"))
        #expect(text.contains("ended with exit code 4"))
        let entries = text.components(separatedBy: "\u{1b}[?1049h")
        #expect(entries.count == 3, "the screen was left and taken again")
        #expect(leftovers.isEmpty)
    }

    @Test func anEditIsStoredAndKeepsItsDeadline() throws {
        let editor = try program("editor", "sed -i s/Oslo/Kristiania/ \"$1\"")
        let (status, _) = try run("\r\reyq", ["EDITOR": editor])
        #expect(status == 0)
        #expect(
            try store.done("get", "City", "oslo", "--json").text
                == "{\"name\":\"Kristiania\",\"size\":709037}\n")
        #expect(try JSON.object(store.done("keys", "City", "--json").text)["expires"] is Double)
        #expect(leftovers.isEmpty)
    }

    /// Somebody stores the entry while the editor is open: that stays, and so does the text.
    @Test func aConflictKeepsBoth() throws {
        let editor = try program(
            "editor",
            "sed -i s/Oslo/Kristiania/ \"$1\"; echo '{\"name\":\"other\"}' | '\(Vellum.executable.path)' --store '\(store.path)' put City oslo"
        )
        let (status, text) = try run("\r\rey\rq", ["EDITOR": editor])
        #expect(status == 0)
        #expect(try store.done("get", "City", "oslo", "--json").text == "{\"name\":\"other\"}\n")
        #expect(text.contains("Not stored"))
        #expect(leftovers.count == 1)
    }

    @Test func aPipeShowsWhatItsCommandSays() throws {
        let (status, text) = try run("\r|grep -c Oslo\r\rq", [:])
        #expect(status == 0)
        #expect(text.contains("[exit code 0; Enter goes back to vellum]"))
        #expect(leftovers.isEmpty)
    }

    @Test func aCopyIsSentToTheTerminal() throws {
        #expect(try run("\ryk\rq", [:]).text.contains("\u{1b}]52;c;b3Nsbw==\u{7}"))
        let inside = try run("\ryk\rq", ["TMUX": "/tmp/tmux-0/default,1,0"]).text
        #expect(inside.contains("\u{1b}Ptmux;\u{1b}\u{1b}]52;c;b3Nsbw==\u{7}\u{1b}\\"))
        #expect(try !run("\ryk\rq", ["TERM": "vt100"]).text.contains("]52;"))
    }
}
