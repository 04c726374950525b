import Foundation
import Testing

/// The user's settings file: its effects, and messages about mistakes.
struct ConfigurationTests {
    private let folder = TemporaryFolder()
    private let store = TestStore()
    private var environment: [String: String] { ["XDG_CONFIG_HOME": folder.path] }
    private var path: String { folder / "vellum/config.toml" }

    private func write(_ text: String) throws {
        try FileManager.default.createDirectory(atPath: folder / "vellum", withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    private func run(_ arguments: String..., also: [String: String] = [:]) throws -> Vellum.Result {
        try Vellum.run(arguments, environment: environment.merging(also) { $1 })
    }

    @Test func defaultsWithoutFile() throws {
        let result = try run("config")
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(result.lines.first == "# \(path) (not found)")
        #expect(result.lines.contains("theme = \"dark\"  # default"))
        #expect(result.lines.contains("refresh = \"200ms\"  # default"))
        #expect(result.lines.contains("# store = \"/FOLDER\"  # default"))
        #expect(
            result.lines.contains(
                "# open = [\"enter\", \"l\", \"right\"]  # default. Open the selected row."))
        #expect(try run("config", "--path").text == path + "\n")
    }

    @Test func namesOrigins() throws {
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
        #expect(result.lines.contains("open = [\"o\"]  # \(path):6. Open the selected row."))
        #expect(result.lines.contains { $0.hasPrefix("delete = [\"X\", \"delete\"]  # \(path):7. ") })
        // The key belonged to another action.
        #expect(result.lines.contains { $0.hasPrefix("# pager = []  # default without o. ") })
        // Options and the environment win.
        let named = try run("config", "--theme", "mono", also: ["VELLUM_STORE": "/s"]).lines
        #expect(named.contains("theme = \"mono\"  # option: --theme"))
        #expect(named.contains("store = \"/s\"  # environment: VELLUM_STORE"))
        #expect(
            try run("config", "--store", "/t", also: ["VELLUM_STORE": "/s"]).lines
                .contains("store = \"/t\"  # option: --store"))
    }

    /// Some terminals set COLORFGBG to their colors.
    @Test(arguments: [
        ("0;15", "light"), ("0;default;15", "light"), ("0;7", "light"), ("15;0", "dark"), ("7;8", "dark"),
        ("15", "dark"), ("x;y", "dark"), ("", "dark"), ("15;default", "dark"),
    ])
    func themeFitsTerminal(colors: String, theme: String) throws {
        let origin = theme == "light" ? "environment: COLORFGBG" : "default"
        #expect(
            try run("config", also: ["COLORFGBG": colors]).lines.contains("theme = \"\(theme)\"  # \(origin)")
        )
        try write("theme = \"dark-safe\"")
        #expect(
            try run("config", also: ["COLORFGBG": colors]).lines.contains(
                "theme = \"dark-safe\"  # \(path):1"))
    }

    @Test func appliesColumnsAndQueries() throws {
        try store.done(
            "import", "City", "-", "--key", "id", input: #"{"id":"bogor","people":950334,"wet":true}"#)
        try write(
            """
            [columns]
            City = ["people", "-owner", "-hits"]

            [queries]
            "most people" = "sort people desc | limit 3"

            """)
        func screen(_ keys: String) throws -> String {
            try run("browse", "--store", store.path, "--size", "130x24", "--keys", keys).text
        }
        let entries = try screen("<enter>")
        #expect(
            entries.contains("950334") && !entries.contains("HITS") && !entries.contains("OWNER"),
            "\(entries)")
        #expect(try screen("<enter>Q<ctrl+o>").contains("sort people desc | limit 3"))
        #expect(try screen("<enter>Q<ctrl+o><enter><enter>").contains("950334"))
        // The browser can't delete queries of the settings.
        #expect(try screen("<enter>Q<ctrl+o><ctrl+x>").contains("most people is set in \(path):5"))
    }

    @Test func namesOriginsOfColumnsAndQueries() throws {
        try write("[columns]\nCity = [\"people\", \"-owner\"]\n[queries]\nmost = \"count\"\n")
        let lines = try run("config").lines
        #expect(lines.contains("\"City\" = [\"people\", \"-owner\"]  # \(path):2"), "\(lines)")
        #expect(lines.contains("\"most\" = \"count\"  # \(path):4"), "\(lines)")
    }

    @Test("the printed settings are a file with the same settings") func outputIsValidFile() throws {
        try write(
            """
            times = "utc"
            [keys]
            open = ["o", "\\""]
            mark = "comma"
            [columns]
            "my cities" = ["address.city", "-age"]
            [queries]
            "most \\"hit\\"" = "sort @hits desc | find name = \\"a\\""

            """)
        let first = try run("config").expect(0)
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
            "1: theme: \"drak\" is not one of dark, light, dark-safe, light-safe, mono; did you mean dark?"
        ),
        ("\n\nthem = \"dark\"", "3: them: unknown setting; did you mean theme?"),
        ("theme = 5", "1: theme: expected a text in quotes"),
        ("refresh = \"5\"", "1: refresh: \"5\" has no unit; write 500ms, 90s, 5m, 1h30m, 3d or 2w"),
        ("refresh = \"1ms\"", "1: refresh: must be 100ms to 1h"),
        ("store = \"cache\"", "1: store: expected an absolute path, from / or ~"),
        ("[kyes]\nopen = \"o\"", "1: kyes: unknown table; did you mean keys?"),
        ("[keys]\nopne = \"o\"", "2: keys.opne: unknown action; did you mean open?"),
        ("[keys]\nopen = \"hyper+o\"", "2: keys.open: unknown key \"hyper+o\""),
        ("[keys]\nopen = \"o\"\nquit = \"o\"", "3: keys.quit: o is already assigned to open above"),
        ("[keys]\nopen = \"ctrl+C\"", "2: keys.open: ctrl+c always quits"),
        ("[keys]\nopen = \"ctrl+z\"", "2: keys.open: ctrl+z always suspends the browser"),
        (
            "[columns]\nCity = [\"a..b\"]",
            "2: columns.City: \"a..b\" isn't a property: at 3: found \".\", expected a property; "
                + "write other names in quotes: '\"a b\"'"
        ),
        (
            "[columns]\nCity = \"-hit\"",
            "2: columns.City: \"hit\" is not one of size, tier, idle, age, expires, hits, owner, queue; did you mean hits?"
        ),
        ("[columns]\nCity = 5", "2: columns.City: expected a text in quotes or a list of them"),
        ("[queries]\na = \"count\"\nb = \"sort\"", "3: queries.b: at 5: incomplete: expected a property"),
        ("[queries]\na = \" \"", "2: queries.a: the query is empty"),
        // Regression: a key without a name counted as the line of its table.
        ("[queries]\na = \"count\"\n\"\" = \"count\"", "3: queries.: a query needs a name"),
        (
            "[columns]\nCity = [\"odd name\"]",
            "2: columns.City: \"odd name\" isn't a property: at 5: found \"name\", expected the end; "
                + "write other names in quotes: '\"a b\"'"
        ),
        ("[queries]\na = [\"count\", \"count\"]", "2: queries.a: expected a query in quotes"),
        ("columns = \"a\"", "1: columns: expected a table: [columns]"),
        ("[keys]\nopen = \"ctrl+i\"", "2: keys.open: terminals send tab for ctrl+i; write tab"),
    ])
    func reportsLinesOfMistakes(text: String, problem: String) throws {
        try write(text)
        let result = try run("config").expect(1)
        #expect(result.errors == "vellum: \(path):\(problem)\n")
        // The other settings apply.
        #expect(result.text.contains("refresh = \"200ms\"  # default"))
    }

    /// Only the line is compared: the parser's wording differs between versions.
    @Test func toleratesBrokenFile() throws {
        try write("theme = \"light\"\nrefresh = \"1s\n")
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

    @Test func usesStoreOfSettings() throws {
        try store.done("put", "City", "k", input: "1")
        try write("store = \"\(store.path)\"\n")
        #expect(try run("keys", "City").lines.count == 1)
        #expect(try run("rm", "City", "k", "--yes").status == 0)
        #expect(try run("exists", "City", "k").status == 1)
        let other = TestStore()
        try other.done("put", "City", "m", input: "1")
        #expect(try run("keys", "City", "--store", other.path).lines.count == 1)
        try write("\nstore = \"\(folder.path)/none\"\n")
        #expect(try run("keys", "City").errors.contains("(store from \(path):2)"))
    }

    /// Regression: each command waited for a writer.
    @Test(.timeLimit(.minutes(10))) func refusesPipeAsFile() throws {
        try write("")
        try FileManager.default.removeItem(atPath: path)
        #expect(mkfifo(path, 0o600) == 0)
        let result = try run("config")
        #expect(result.status == 1 && result.errors == "vellum: \(path) is a pipe, not a file\n")
    }

    @Test func controlCAlwaysQuits() throws {
        try write("[keys]\nquit = \"X\"\n")
        #expect(try run("config").lines.contains { $0.hasPrefix("quit = [\"X\", \"ctrl+c\"]") })
    }

    @Test func timesFollowSetting() throws {
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

    @Test func usesAssignedKeys() throws {
        try store.done("put", "City", "bogor", input: "1")
        try write("[keys]\nopen = \"o\"\n")
        let screen = try run("browse", "--store", store.path, "--size", "80x24", "--keys", "o")
        #expect(screen.text.contains("bogor") && screen.text.contains("o Open"))
    }

    private func colors(_ text: String) -> Set<Substring> {
        Set(text.matches(of: /[34]8;2;[0-9]+;[0-9]+;[0-9]+/).map(\.0))
    }

    @Test func browserUsesTheme() async throws {
        try store.done("put", "City", "bogor", input: "1")
        func printed(_ options: String...) throws -> Set<Substring> {
            let arguments = ["browse", "--store", store.path, "--size", "100x30", "--print", "ansi"]
            let variables = environment.merging(["NO_COLOR": ""]) { $1 }
            return colors(try Vellum.run(arguments + options, environment: variables).text)
        }
        func shown() async throws -> Set<Substring> {
            let variables = ["COLORTERM": "truecolor", "NO_COLOR": ""].merging(environment) { $1 }
            let (status, text) = try await PseudoTerminal.run(
                "--store '\(store.path)'", typing: [("City", "q")], environment: variables)
            #expect(status == 0)
            return colors(text)
        }
        let (dark, light) = (try printed("--theme", "dark"), try printed("--theme", "light"))
        let (ofDark, ofLight) = (dark.subtracting(light), light.subtracting(dark))
        #expect(!ofDark.isEmpty && !ofLight.isEmpty)
        #expect(try printed() == dark)
        #expect(try await !shown().isDisjoint(with: ofDark))
        try write("theme = \"light\"\n")
        #expect(try printed() == light)
        let used = try await shown()
        #expect(used.isDisjoint(with: ofDark) && !used.isDisjoint(with: ofLight), "\(used)")
        // An option wins.
        #expect(try printed("--theme", "dark") == dark)
    }

    /// The browser that refreshes hourly doesn't show the later entries.
    @Test func refreshFollowsSetting() async throws {
        // Shares no letter's position with the last key, as a terminal is sent only differences.
        try store.done("put", "City", "initial", input: "1")
        func start(_ refresh: String) async throws -> Spawned {
            try write("refresh = \"\(refresh)\"\n")
            let browser = try PseudoTerminal.start("--store '\(store.path)'", environment: environment)
            try await browser.until("the archives") { browser.text.contains("City") }
            browser.type("\r")
            // A column title: the archives may show the key already.
            try await browser.until("the entries") { browser.text.contains("expires") }
            try await browser.until("the first entry") { browser.text.contains("initial") }
            return browser
        }
        let (slow, quick) = (try await start("1h"), try await start("100ms"))
        for key in ["second", "third", "fourth"] {
            try store.done("put", "City", key, input: "1")
            try await quick.until(key) { quick.text.contains(key) }
        }
        // Its first list may have included the second entry.
        #expect(!slow.text.contains("fourth"))
        // A manual refresh shows it.
        slow.type("R")
        try await slow.until("fourth") { slow.text.contains("fourth") }
        for browser in [slow, quick] {
            browser.type("\u{3}")
            #expect(try await browser.finish() == 0)
        }
    }
}
