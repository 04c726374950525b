import Foundation
import Testing

@Suite("vellum shell", .timeLimit(.minutes(10)))
struct ShellTests {
    let store: TestStore
    /// The folder of the history.
    private var state: String { store.folder / "state" }

    init() throws {
        store = TestStore()
        let cities = [
            #"{"id":"oslo","name":"Oslo","population":709037}"#,
            #"{"id":"bergen","name":"Bergen","population":285911}"#,
            #"{"id":"a b","name":"Two Words","population":1}"#,
        ]
        try store.done("import", "City", "-", "--key", "id", input: cities.joined(separator: "\n"))
        try store.done("put", "Other Archive", "k", input: "{\"n\":1}")
    }

    // MARK: Scripts

    private func script(_ text: String, _ arguments: String...) throws -> Vellum.Result {
        try Vellum.run(
            ["--store", store.path, "shell"] + arguments, input: text,
            environment: ["XDG_STATE_HOME": state])
    }

    @Test("a line that begins with a stage of two words is a query")
    func stagesOfTwoWords() throws {
        let result = try script("group by name | count\n", "City")
        #expect(result.status == 0 && result.lines.count == 3, "\(result)")
    }

    @Test func runsScripts() throws {
        let result = try script(
            """
            # a remark
            use City
              count
            FIND population > 1000 |
              sort population |
              select name

            keys City --prefix o | cut -f1 | tr a-z A-Z
            use 'Other Archive'
            sum n
            get City 'a b' --json > /dev/null
            get City a\\ b --json | wc -l | tr -d ' '
            !echo "$VELLUM_STORE"
            exit
            no such thing
            """)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines == ["3", "Bergen", "Oslo", "OSLO", "1", "1", store.path], "\(result.text)")
        #expect(result.errors.isEmpty)
        #expect(try script("count", "City").text == "3\n")
        #expect(!FileManager.default.fileExists(atPath: state), "a script has a history")
    }

    @Test func failingLineEndsScript() throws {
        for (line, status, words) in [
            ("get City missing", 1, "missing"), ("find population >", 2, "^"), ("count", 2, "use ARCHIVE"),
            ("use Citi", 1, "did you mean"), ("cuont", 2, "did you mean count?"), ("use", 2, "Other Archive"),
            ("use City Other", 2, "one archive"), ("!exit 143", 143, "line 3"), ("!exit 77", 77, "line 3"),
            ("exit 3", 2, "takes no argument"),
            ("(ls)", 2, "begins with a command"), ("; ls", 2, "begins with"), ("> f", 2, "begins with"),
            ("| head", 2, "begins with"), ("history | head", 2, "takes no argument"),
            ("find name = \"" + String(repeating: "x", count: 140_000) + "\"", 2, "--file FILE"),
            ("!echo a\0b", 2, "NUL"), ("get 'City", 2, "line 3"), ("shell", 2, "unknown command"),
        ] {
            let start = line == "count" ? "" : "use City"
            let result = try script("\(start)\n# \n\(line)\nput City never --json\n")
            #expect(result.status == Int32(status), "\(line): \(result.status) \(result.errors)")
            #expect(result.errors.contains(words), "\(line): \(result.errors)")
            #expect(result.errors.contains("line 3 of the input failed"))
        }
        #expect(try store.keys("City").count == 3)
    }

    /// A command that read standard input would consume the following lines.
    @Test func commandsDoNotReadScript() throws {
        let result = try script("put City new --text\nexists City new && echo new\n")
        #expect(result.text == "new\n", "\(result.text) \(result.errors)")
        #expect(try store.done("get", "City", "new").text.trimmingCharacters(in: .newlines).isEmpty)
    }

    @Test func refusesInvalidUTF8() throws {
        let input = try store.folder.file("script", "")
        try Data("use City\nget City \u{1}".utf8 + [0xff, 0x0a]).write(to: URL(fileURLWithPath: input))
        try Vellum.shell("\"$0\" --store \"$1\" shell < \"$2\"", store.path, input).expect(
            2, errors: "line 2 of the input isn't UTF-8 text")
    }

    // MARK: At a terminal

    /// Types the keys of each step after its text is shown.
    private func session(
        of archive: String = "", columns: Int = 80, terminal: String = "xterm",
        _ steps: [(shown: String, keys: String)], location: SourceLocation = #_sourceLocation
    ) async throws -> (status: Int32, text: String) {
        try await PseudoTerminal.run(
            "--store '\(store.path)' shell \(archive)", typing: steps,
            environment: ["TERM": terminal, "XDG_STATE_HOME": state], columns: columns, location: location)
    }

    @Test func tabCompletes() async throws {
        let (status, text) = try await session([
            ("vellum> ", "us\t"), ("use ", "Ci\t"), ("City", "\r"),
            ("City> ", "find po\t"), ("population ", "> 300000 | sel\t"), ("select ", "na\t"),
            ("name", "\r"), ("Oslo", "get City 'a\t"), ("'a b'", "--json\r"),
            ("Two Words", "rename City Oth\t"),
            ("'Other Archive'", "\u{15}use Oth\t"), ("use 'Other Archive'", "\r"),
            ("Other Archive> ", "\t\tex\t"), ("export", "it\r"),
        ])
        #expect(status == 0, "\(text)")
        #expect(text.contains("2 archives") && text.contains("find") && text.contains("diff"))
    }

    /// Regression: a dumb terminal was treated as a script: without a prompt, and ended by the first mistake.
    @Test func dumbTerminalIsInteractive() async throws {
        let (status, text) = try await session(
            of: "City", terminal: "dumb",
            [
                ("City> ", "find nosuch ==\n"), ("City> ", "find name = \"Oslo\" |\n"),
                ("City| ", "select name\n"), ("Oslo\r\n", ""), ("City> ", "ls \u{3}"), ("\nCity> ", "\u{4}"),
            ])
        #expect(status == 0, "\(text)")
        #expect(!text.contains("\u{1b}"))
    }

    /// Output before the next prompt: keys sent earlier would be read by the command.
    private let next = "\n\rCity>\u{1b}[K"

    /// The next session has the history, searched with ctrl+r; lines that begin with a space aren't kept.
    @Test func keepsHistory() async throws {
        let first = try await session(
            of: "City",
            [(next, "count\r"), (next, " keys City\r"), (next, "find name = \"Oslo\"\r"), (next, "\u{4}")])
        #expect(first.text.contains("709037"))
        let (status, text) = try await session(
            of: "City",
            [
                (next, "\u{1b}[A"), ("City> find name = \"Oslo\"", "\u{1b}[A"),
                ("City> count", "\u{1b}[B\u{1b}[B"),
                ("City>\u{1b}[K", "\u{12}"), ("earlier line with ''", "COU"), ("'COU': count", "\r"),
                (next, "histo\t\r"), (next, "\u{4}"),
            ])
        #expect(status == 0)
        #expect(text.contains("3\r\n") && text.contains("find name = \"Oslo\"\r\ncount\r\nhistory"))
        #expect(!text.contains("keys City"))
        let mode = try FileManager.default.attributesOfItem(atPath: state + "/vellum/shell")[
            .posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    /// Ctrl+C drops a line or ends a command; a failing line doesn't end the shell.
    @Test func interruptEndsCommandOnly() async throws {
        let (status, text) = try await session(
            of: "City",
            [
                // Interrupts a builtin: some shells lose an interrupt while they start a program.
                (next, "find x\u{3}"), ("^C", "!echo begun; read line\r"), ("begun\r\n", "\u{3}"),
                (next, "get City missing\r"), (next, "!stty -a | tr ' ' '\\n' | grep -x icanon\r"),
                (next, "\u{4}"),
            ])
        #expect(status == 0, "\(text)")
        #expect(text.contains("\r\nicanon\r\n") && text.contains("no entry \"missing\""))
    }

    /// Regression: after an unfinished paste no key worked. Ctrl-C drops the paste, not the text before it.
    @Test func reportsUnfinishedPaste() async throws {
        let (status, text) = try await session(
            of: "City",
            [
                (next, "count\u{1b}[200~half"), ("ctrl+c discards it.\r\r\n\rCity> count", "\u{3}"),
                ("was discarded.\r\r\n\rCity> count", "\r"), (next, "\u{4}"),
            ])
        #expect(status == 0, "\(text)")
        #expect(text.contains("3\r\n") && !text.contains("half"))
    }

    /// A query in several lines, a line wider than the terminal, and an underlined error.
    @Test func editsLongQueries() async throws {
        let (status, text) = try await session(
            of: "City", columns: 30,
            [
                (next, "find population > 1 |\r"), ("    |", "sort name | select name, population, id\r"),
                (next, "find ) 3"), ("find \u{1b}[0;1;4m)\u{1b}[0m 3", "\u{15}\u{4}"),
            ])
        #expect(status == 0, "\(text)")
        #expect(text.contains("Oslo") && text.contains("709037"))
    }
}
