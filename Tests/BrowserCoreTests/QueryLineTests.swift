import ArchiveQuery
import BrowserCore
import CBOR
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// The query line: messages and completions.
extension QueryScreenTests {
    /// Regression: only the first name was shown, cut at the screen's edge.
    @Test(arguments: [(40, 12), (80, 24)])
    func reportsUnknownProperties(columns: Int, rows: Int) throws {
        let browser = try browser("Qfind numbr > 3 or adress.city = 1<enter>", columns: columns, rows: rows)
        let text = words(browser)
        #expect(text.contains("no entry has the property numbr; did you mean number?"), "\(text)")
        if columns >= 80 { #expect(text.contains("no entry has the property adress.city;")) }
        if columns < 80 { #expect(text.contains("and more")) }
    }

    @Test("a query whose reads count as accesses runs after a confirmation, which R doesn't repeat")
    func accessesAreAllowed() throws {
        let source = Fixture.source()
        try Fixture.addQueries(source)
        source.with { $0.countsAccesses = true }
        var browser = try Fixture.browser(source, columns: 100, keys: "jQfind population > 1<enter>")
        #expect(
            browser.boxWords.contains("at most 16 keys, which counts as an access to each"), "\(browser.text)"
        )
        for key in ["y", "R"] {
            try browser.press(key, shows: "16 rows", hides: "Read all values?")
        }
        // The question is asked once.
        try browser.press(
            "i<ctrl+u>find population > 2000000<enter>", shows: "4 rows", hides: "Read all values?")
    }

    @Test("an earlier draft continues at its end")
    func draftContinuesAtItsEnd() throws {
        let browser = try browser("Qfind number >> 3<enter><esc>Q0")
        #expect(browser.lines[1].hasPrefix("query find number >> 30"), "\(browser.text)")
    }

    /// Enter runs all lines of a query.
    @Test func runsQueryOfSeveralLines() throws {
        var browser = try browser("Qfind number > 3<alt+enter>| sort number desc<ctrl+n>| limit 2")
        let lines = browser.lines
        #expect(lines[1].hasPrefix("query find number > 3") && lines[2] == "      | sort number desc")
        #expect(lines[3] == "      | limit 2")
        // The arrows move between lines before they move in the history.
        try browser.press("<up><up><end><backspace>5<down><end><down>")
        #expect(browser.frame.cursor?.row == 3)
        try browser.press("<enter>")
        let text = words(browser)
        #expect(text.contains("find number > 5") && text.contains("limit 2 2 rows"), "\(text)")
        #expect(browser.model.cursorKey != nil)
        // The history and the command line have it, too.
        try browser.press("c")
        #expect(words(browser).contains("sort number desc"), "\(words(browser))")
        try browser.press("<esc>i<ctrl+r>")
        #expect(words(browser).contains("sort number desc"), "\(words(browser))")
    }

    /// An example above the rows would look like their query.
    @Test func emptyQueryShowsNoExample() throws {
        let browser = try browser("Q<enter>")
        #expect(browser.text.contains("60 rows"))
        #expect(browser.lines[1] == "query all entries", "\(browser.text)")
    }

    /// Regression: completions above rows had no frame, and looked like columns.
    @Test func framesCompletionsOverRows() throws {
        let browser = try browser("Qselect number<enter>i<ctrl+u>")
        let rows = browser.lines
        #expect(rows.contains { $0.contains("| find ") }, "\(browser.text)")
        let empty = try self.browser("Q").lines
        #expect(
            empty.contains { $0.contains(" find ") } && !empty.contains { $0.contains("| find ") }, "\(empty)"
        )
    }

    @Test func wrapsLongErrors() throws {
        let browser = try browser("Qfind number > 3 | srot number<enter>", columns: 40, rows: 24)
        let text = words(browser)
        guard case .errors(let errors) = QueryPipeline.parse("find number > 3 | srot number") else {
            Issue.record("the query is valid")
            return
        }
        #expect(text.contains("character 19: \(errors[0].message)"), "\(text)")
        #expect(browser.frame[6 + 18, 1].style != browser.frame[6 + 16, 1].style)
        // On low screens the last rows have the message.
        let small = try self.browser("Qfind number > 3 | srot number", columns: 40, rows: 8)
        #expect(small.lines[2...].contains { $0.hasPrefix("character 19: found \"srot\"") }, "\(small.text)")
    }

    @Test func completesExistingValues() throws {
        var browser = try browser("Qfind address.city = <tab>")
        #expect(browser.lines[1].hasSuffix("find address.city = \"Bogor\""))
        try browser.press("<tab>")
        #expect(browser.lines[1].hasSuffix(#"find address.city = "\u{6771}\u{4eac}""#))
        // Regression: Tab inserted true where a text is compared.
        for _ in 0..<12 {
            try browser.press("<tab>")
            let line = browser.lines[1]
            #expect(!line.contains("true") && !line.contains("false") && !line.contains("null"))
        }
        browser = try self.browser("Qfind address.city starts with \"b<tab>")
        #expect(browser.lines[1].hasSuffix("starts with \"Bogor\""))
        browser = try self.browser("Qfind @key = \"place 5<tab>")
        #expect(browser.lines[1].hasSuffix("find @key = \"place 5\""))
        browser = try self.browser("Qfind none = <tab>")
        #expect(!browser.lines[1].contains("true"))
        try archive.put(CBORValue.map(["done": true]).encoded, forKey: "flag", encoding: .cbor)
        browser = try self.browser("Qfind done = <tab>")
        #expect(browser.lines[1].hasSuffix("find done = true"))
    }

    /// Regression: a response during typing moved the focus to the rows, and further letters were actions.
    @Test func responseKeepsFocusOnLine() throws {
        let source = EngineSource(folder: folder.path)
        var test = UpdateTest(Fixture.model(columns: 90, rows: 24, store: folder.path + "/store"))
        test.settle(source)
        test.press(
            .character("Q"),
            expecting: ["load properties of Place", "load earlier queries", "load saved queries"])
        test.settle(source)
        for character in "limit 2" { test.press(.character(character)) }
        test.press(Key(.enter), expecting: ["query Place: limit 2"])
        let asked = test.effects
        #expect(test.text.contains("Running the query"))
        test.press(.character("x"))
        #expect(test.text.contains("x ignored: still loading"))
        test.press(Key(.escape), expecting: ["stop"])
        test.press(.character("x"))
        test.settle(asked, source)
        test.press(.character("D"))
        #expect(test.text.contains("limit 2xD") && !test.model.isPlanOpen)
    }

    @Test func explainsSyntax() throws {
        var browser = try browser("Q<f1>", columns: 90, rows: 14)
        browser.expect(shows: "Examples:", hides: "Properties:")
        try browser.press("G", shows: "Properties:")
        try browser.press("<home><pgdn><pgup>", shows: "Examples:")
        try browser.press("<f1>", shows: "Help: query")
        try browser.press("<esc>", on: .query)
    }

    @Test(arguments: QuerySyntax.examples.map { $0.query })
    func examplesParse(text: String) {
        guard case .errors(let errors) = QueryPipeline.parse(text) else { return }
        Issue.record("\(text): \(errors[0])")
    }
}

/// The line of hints for new users.
struct HintLineTests {
    private let folder = EngineSourceTests.Folder()
    private var file: StateFile { StateFile(path: folder.path + "/state/vellum/hints") }

    private func browser(rows: Int = 24, columns: Int = 80, keyMap: BrowserKeyMap = ActionTable.keyMap())
        -> HeadlessBrowser
    {
        var environment = Fixture.environment
        environment.hintsFile = file
        environment.showsHints = !file.exists
        return HeadlessBrowser(
            Fixture.model(columns: columns, rows: rows, keyMap: keyMap, environment: environment),
            source: Fixture.source(), clock: { Fixture.start })
    }

    @Test func hintsStayHidden() throws {
        var browser = browser()
        #expect(browser.text.contains("Hints:  enter opens"))
        try browser.press("<enter>", shows: "/ filters")
        try browser.press("H", shows: "Hints are hidden. H shows them again.", hides: "Hints:")
        #expect(!self.browser().text.contains("Hints:"), "the next session shows hints")
        let facts = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(facts[.posixPermissions] as? Int == 0o600)
        try browser.press("H")
        #expect(self.browser().text.contains("Hints:"))
    }

    @Test func reportsUnsavedHints() throws {
        try Data().write(to: URL(fileURLWithPath: folder.path + "/state"))
        var browser = browser()
        try browser.press("H", shows: "For this session only:")
    }

    @Test(arguments: [(200, 60), (80, 24), (40, 12), (40, 10), (20, 5)])
    func hintsFitTheScreen(size: (columns: Int, rows: Int)) throws {
        let text = browser(rows: size.rows, columns: size.columns).text
        #expect(text.contains("Hints:") == (size.rows >= 12), "\(text)")
        #expect(text.contains("City"))
        #expect(text.contains("H hides this") == (size.rows >= 12), "\(text)")
    }

    @Test func hintsNameAssignedKeys() throws {
        var map = ActionTable.keyMap()
        #expect(map.remap("open = o") == [])
        #expect(browser(keyMap: map).text.contains("Hints:  o opens"))
    }
}

struct QueryHistoryTests {
    private let folder = EngineSourceTests.Folder()
    private var state: StateFolder { StateFolder(path: folder.path + "/state/vellum") }
    private var file: StateRecords<PastQuery> { state.queries }

    private func past(_ text: String, _ archive: String = "City") -> PastQuery {
        PastQuery(archive: archive, text: text, outcome: "1 row", time: Fixture.start)
    }

    private func add(_ query: PastQuery) throws { try file.change { $0.remember(query) } }

    @Test func fileIsPrivate() throws {
        #expect(try file.read().isEmpty)
        for text in ["count", "limit 2", "find a = \"x\ny\"", "count"] { try add(past(text)) }
        #expect(try file.read().map(\.text) == ["limit 2", "find a = \"x\ny\"", "count"])
        for (path, mode) in [(file.path, 0o600), (folder.path + "/state/vellum", 0o700)] {
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            #expect(facts[.posixPermissions] as? Int == mode, "\(path)")
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path + "/state/vellum") == ["queries"])
    }

    @Test func boundsQueriesAndSkipsInvalidLines() throws {
        for number in 0..<PastQuery.maximum + 5 { try add(past("limit \(number)")) }
        #expect(try file.read().count == PastQuery.maximum && file.read().first?.text == "limit 5")
        let handle = try #require(FileHandle(forWritingAtPath: file.path))
        handle.seekToEndOfFile()
        handle.write(Data("no query\n".utf8))
        try handle.close()
        #expect(try file.read().count == PastQuery.maximum)
    }

    @Test func usesStateFolder() {
        #expect(
            StateFolder.standard(environment: ["HOME": "/home/ada", "XDG_STATE_HOME": "/s"])?.queries.path
                == "/s/vellum/queries")
        #expect(
            StateFolder.standard(environment: ["HOME": "/home/ada", "XDG_STATE_HOME": "rel"])?.queries.path
                == "/home/ada/.local/state/vellum/queries")
        #expect(StateFolder.standard(environment: [:]) == nil)
    }

    @Test func laterSessionSearchesQueries() throws {
        let path = folder.path + "/store"
        let store = try Store.open(at: path)
        defer { store.close() }
        let archive = try store.archive(named: "City", orCreate: ArchiveConfiguration(diskLimit: 100_000))
        try archive.put(CBORValue.map(["number": 1]).encoded, forKey: "a", encoding: .cbor)
        func session(_ keys: String) throws -> String {
            try Fixture.browser(
                at: folder.path, store: path, source: EngineSource(folder: folder.path, state: state),
                rows: 24,
                clock: { Fixture.start }, keys: keys
            ).text
        }
        _ = try session("Qfind number = 1<enter>i<ctrl+u>limit 3<enter>i<ctrl+u>count<enter>")
        try add(past("sort name", "Other"))
        #expect(try session("Q<up>").contains("query count"))
        let list = try session("Q<ctrl+r>")
        #expect(
            list.contains("Query history") && list.contains("limit 3") && list.contains("Other  sort name"))
        #expect(try session("Q<ctrl+r>NUMB<enter>").contains("query find number = 1"))
        #expect(try session("Q<ctrl+r>zz").contains("No query matches."))
    }
}
