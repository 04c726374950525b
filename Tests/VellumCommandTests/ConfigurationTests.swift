import Foundation
import Testing

/// The person's file of settings: what it changes, and what is said of mistakes in it.
struct ConfigurationTests {
    private let folder: TemporaryFolder
    private var environment: [String: String] { ["XDG_CONFIG_HOME": folder.path] }
    private var path: String { folder / "vellum/config.toml" }

    init() throws { folder = try TemporaryFolder() }

    private func write(_ text: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder / "vellum", withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    private func run(_ arguments: String..., also: [String: String] = [:]) throws -> Vellum.Result {
        try Vellum.run(arguments, environment: environment.merging(also) { $1 })
    }

    @Test func withoutAFileTheDefaultsHold() throws {
        let result = try run("config")
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(result.lines.first == "# \(path) (not there)")
        #expect(result.lines.contains("theme = \"dark\"  # default"))
        #expect(result.lines.contains("refresh = \"200ms\"  # default"))
        #expect(result.lines.contains("# store = \"/FOLDER\"  # default"))
        #expect(
            result.lines.contains(
                "# open = [\"enter\", \"l\", \"right\"]  # default. Open what the cursor is on."))
        #expect(try run("config", "--path").text == path + "\n")
    }

    @Test func eachLineSaysWhereItIsFrom() throws {
        try write(
            """
            # mine
            theme = "light"
            store = "/srv/cache"

            [keys]
            open = "o"
            delete = ["X", "delete"]

            """)
        let result = try run("config")
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(result.lines.contains("theme = \"light\"  # \(path):2"))
        #expect(result.lines.contains("store = \"/srv/cache\"  # \(path):3"))
        #expect(result.lines.contains("open = [\"o\"]  # \(path):6. Open what the cursor is on."))
        #expect(result.lines.contains { $0.hasPrefix("delete = [\"X\", \"delete\"]  # \(path):7. ") })
        // The key was another action's.
        #expect(result.lines.contains { $0.hasPrefix("# pager = []  # default without o. ") })
        // Options and the environment win.
        let named = try run("config", "--theme", "mono", also: ["VELLUM_STORE": "/s"]).lines
        #expect(named.contains("theme = \"mono\"  # option: --theme"))
        #expect(named.contains("store = \"/s\"  # environment: VELLUM_STORE"))
        #expect(
            try run("config", "--store", "/t", also: ["VELLUM_STORE": "/s"]).lines
                .contains("store = \"/t\"  # option: --store"))
    }

    /// What is printed is a file that says the same.
    @Test func whatIsPrintedCanBeTheFile() throws {
        try write("times = \"utc\"\n[keys]\nopen = [\"o\", \"\\\"\"]\nmark = \"comma\"\n")
        let first = try run("config")
        #expect(first.status == 0, "\(first.errors)")
        try write(first.text)
        let second = try run("config")
        #expect(second.errors.isEmpty && second.status == 0)
        func settings(_ result: Vellum.Result) -> [Substring] {
            result.lines.filter { !$0.hasPrefix("#") }.map {
                $0.prefix(upTo: $0.range(of: "  #")?.lowerBound ?? $0.endIndex)
            }
        }
        #expect(settings(first) == settings(second))
    }

    @Test(arguments: [
        (
            "theme = \"drak\"",
            "1: theme: \"drak\" is none of dark, light, dark-safe, light-safe, mono; did you mean dark?"
        ),
        ("\n\nthem = \"dark\"", "3: them: there is no such setting; did you mean theme?"),
        ("theme = 5", "1: theme: a text in quotes is expected"),
        ("refresh = \"5\"", "1: refresh: \"5\" has no unit; write 500ms, 90s, 5m, 1h30m, 3d or 2w"),
        ("refresh = \"1ms\"", "1: refresh: 100ms to 60s are possible"),
        (
            "store = \"cache\"",
            "1: store: a path from the root or from ~ is expected, for vellum is started anywhere"
        ),
        ("[kyes]\nopen = \"o\"", "1: kyes: there is no such table; did you mean keys?"),
        ("[keys]\nopne = \"o\"", "2: keys.opne: there is no such action; did you mean open?"),
        ("[keys]\nopen = \"hyper+o\"", "2: keys.open: no key is called “hyper+o”"),
        ("[keys]\nopen = \"o\"\nquit = \"o\"", "3: keys.quit: o was given to open above"),
        ("[keys]\nopen = \"ctrl+C\"", "2: keys.open: ctrl+c always leaves the browser"),
        ("[keys]\nopen = \"ctrl+z\"", "2: keys.open: ctrl+z always suspends the browser"),
        ("[keys]\nopen = \"ctrl+i\"", "2: keys.open: terminals send tab for ctrl+i; write tab"),
    ])
    func mistakesAreNamedWithTheirLine(text: String, problem: String) throws {
        try write(text)
        let result = try run("config")
        #expect(result.status == 1)
        #expect(result.errors == "vellum: \(path):\(problem)\n")
        // The rest holds.
        #expect(result.text.contains("refresh = \"200ms\"  # default"))
    }

    /// The parser's own words differ from version to version; the line is what counts.
    @Test func aBrokenFileIsSaidAndKeepsNobodyFromAnything() throws {
        try write("theme = \"light\"\nrefresh = \"1s\n")
        let store = try TestStore()
        try store.done("put", "City", "k", input: "1")
        let keys = try run("keys", "City", "--store", store.path)
        #expect(keys.status == 0 && keys.lines.count == 1)
        #expect(keys.errors.hasPrefix("vellum: \(path):2: "))
        let screen = try run("browse", "--store", store.path, "--size", "80x24")
        #expect(screen.status == 0 && screen.text.contains("City"))
        #expect(screen.errors.hasPrefix("vellum: \(path):2: "))
        let effective = try run("config")
        #expect(effective.status == 1 && effective.text.contains("theme = \"dark\"  # default"))
    }

    @Test func theStoreThatIsNamedIsUsed() throws {
        let store = try TestStore()
        try store.done("put", "City", "k", input: "1")
        try write("store = \"\(store.path)\"\n")
        #expect(try run("keys", "City").lines.count == 1)
        #expect(try run("rm", "City", "k", "--yes").status == 0)
        #expect(try run("exists", "City", "k").status == 1)
        let other = try TestStore()
        try other.done("put", "City", "m", input: "1")
        #expect(try run("keys", "City", "--store", other.path).lines.count == 1)
        try write("\nstore = \"\(folder.path)/gone\"\n")
        #expect(try run("keys", "City").errors.contains("(the store of \(path):2)"))
    }

    /// Each command waited for somebody to write into it.
    @Test(.timeLimit(.minutes(10))) func aPipeInItsPlaceKeepsNobodyWaiting() throws {
        try write("")
        try FileManager.default.removeItem(atPath: path)
        #expect(mkfifo(path, 0o600) == 0)
        let result = try run("config")
        #expect(result.status == 1 && result.errors == "vellum: \(path) is a pipe and no file\n")
    }

    /// Control-C leaves whatever is assigned, and the list says so.
    @Test func whatLeavesIsListed() throws {
        try write("[keys]\nquit = \"X\"\n")
        #expect(try run("config").lines.contains { $0.hasPrefix("quit = [\"X\", \"ctrl+c\"]") })
    }

    @Test func timesAreShownInTheZoneThatIsAskedFor() throws {
        let store = try TestStore()
        try store.done("append", "Log", "hello", "--disk", "1MB")
        let zone = ["TZ": "Etc/GMT+5"]
        func hour(_ result: Vellum.Result) throws -> Int {
            let clock = try #require(
                result.text.range(of: "[0-9]{2}:[0-9]{2}:[0-9]{2}", options: .regularExpression),
                "\(result.text)")
            return try #require(Int(result.text[clock].prefix(2)))
        }
        let local = try run(
            "browse", "--store", store.path, "--size", "80x24", "--keys", "<enter>", also: zone)
        try write("times = \"utc\"\n")
        let utc = try run("browse", "--store", store.path, "--size", "80x24", "--keys", "<enter>", also: zone)
        #expect(utc.text.contains("hello"))
        #expect(try (hour(local) + 5) % 24 == hour(utc))
    }

    @Test func keysThatAreAssignedAreUsed() throws {
        let store = try TestStore()
        try store.done("put", "City", "bogor", input: "1")
        try write("[keys]\nopen = \"o\"\n")
        let screen = try run("browse", "--store", store.path, "--size", "80x24", "--keys", "o")
        #expect(screen.text.contains("bogor") && screen.text.contains("o Open"))
    }
}
