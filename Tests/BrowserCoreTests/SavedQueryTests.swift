import BrowserCore
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// Named queries and their file.
struct SavedQueryTests {
    private let source = Fixture.source()

    private func browser(_ source: MockSource, _ keys: String) throws -> HeadlessBrowser {
        try Fixture.browser(source, columns: 99, look: Fixture.ascii, keys: "jQ" + keys)
    }

    @Test func savesUsesAndDeletes() throws {
        var browser = try browser(source, "find population > 1<ctrl+s>")
        #expect(browser.lines[22].hasPrefix("save as: "), "\(browser.text)")
        try browser.press("  large <enter>")
        #expect(browser.lines[22].hasPrefix("Saved as large."), "\(browser.text)")
        #expect(
            source.with { $0.savedQueries }
                == [SavedQuery(name: "large", archive: "City", text: "find population > 1")])
        try browser.press(
            "<ctrl+u>limit 3<ctrl+s>few<enter><ctrl+u><ctrl+o>", shows: "Saved queries", "few    limit 3")
        try browser.press("larg<enter>", row: 1, shows: "query find population > 1")
        // In a later session, from another archive.
        var later = try Fixture.browser(source, columns: 99, look: Fixture.ascii, keys: "Q<ctrl+o>")
        #expect(later.text.contains("City: large  find population > 1"))
        try later.press("large<ctrl+x>", shows: "Delete the saved query?")
        try later.press("<esc>", shows: "City: large")
        try later.press("large<ctrl+x>y", shows: "City: few", hides: "City: large")
        #expect(source.with { $0.savedQueries.map(\.name) } == ["few"])
    }

    /// Regression: a long name was cut without an ellipsis and hid its query.
    @Test func longNameLeavesSpaceForQuery() throws {
        source.with { state in
            let text = "find population > 1 | " + String(repeating: "sort name | ", count: 9) + "limit 3"
            state.savedQueries = [
                SavedQuery(name: String(repeating: "long ", count: 40), archive: "City", text: text)
            ]
        }
        let browser = try browser(source, "<ctrl+o>")
        let row = try #require(browser.lines.first { $0.contains("long long") })
        let ellipsis = Fixture.ascii.glyphs.ellipsis
        #expect(row.contains("  find population > 1"), "\(row)")
        #expect(row.components(separatedBy: ellipsis).count == 3, "\(row)")
    }

    @Test(arguments: ["<ctrl+s>", "limit 3<ctrl+s>  <enter>"])
    func refusesMissingTextOrName(keys: String) throws {
        let browser = try browser(source, keys)
        #expect(source.with { $0.savedQueries.isEmpty })
        let said = browser.lines[22]
        #expect(said.contains("No query to save.") || said.contains("a name is needed"), "\(said)")
    }

    @Test func asksToReplace() throws {
        var browser = try browser(source, "limit 3<ctrl+s>few<enter><bs>4<ctrl+s>few<enter>")
        #expect(browser.text.contains("few is now: limit 3"), "\(browser.text)")
        try browser.press("<esc>")
        #expect(source.with { $0.savedQueries.map(\.text) } == ["limit 3"])
        try browser.press("<ctrl+s>few<enter>y")
        #expect(source.with { $0.savedQueries.map(\.text) } == ["limit 4"])
    }

    @Test func reportsUnsavedQuery() throws {
        source.with { $0.keepingProblem = "no space" }
        let browser = try browser(source, "limit 3<ctrl+s>few<enter>")
        #expect(browser.lines[22].contains("Saved for this session only: no space"), "\(browser.text)")
        let empty = try self.browser(source, "<ctrl+s>")
        #expect(empty.text.contains("No query to save."))
        let none = try self.browser(Fixture.source(), "<ctrl+o>")
        #expect(none.text.contains("No saved queries; ctrl+s saves this one."))
    }

    @Test func filesArePrivate() throws {
        let folder = EngineSourceTests.Folder()
        let state = StateFolder(path: folder.path + "/vellum")
        let source = EngineSource(folder: folder.path, state: state)
        let query = SavedQuery(name: "few", archive: "City", text: "limit 3")
        try source.save(query)
        try source.save(SavedQuery(name: "few", archive: "City", text: "limit 4"))
        try source.save(SavedQuery(name: "few", archive: "Other", text: "limit 5"))
        #expect(try source.savedQueries().map(\.text) == ["limit 4", "limit 5"])
        try source.forget(query)
        #expect(try source.savedQueries().map(\.text) == ["limit 5"])
        let city = ArchiveAddress("City", in: "/a")
        try source.keep(ChosenColumns(archive: "City", properties: [.named("a.b")], hidden: ["tier"]))
        try source.keep(ChosenColumns(archive: "Other", properties: [], hidden: []))
        #expect(try source.columns(of: city)?.properties == [.named("a.b")])
        #expect(try source.columns(of: city)?.hidden == ["tier"])
        // Columns of a store have priority over those of the name.
        try source.keep(ChosenColumns(archive: "City", in: "/b", properties: [], hidden: ["age"]))
        #expect(try source.columns(of: city)?.hidden == ["tier"])
        #expect(try source.columns(of: ArchiveAddress("City", in: "/b"))?.hidden == ["age"])
        #expect(try source.columns(of: ArchiveAddress("None", in: "/a")) == nil)
        for name in ["saved-queries", "columns"] {
            let facts = try FileManager.default.attributesOfItem(atPath: state.path + "/" + name)
            #expect(facts[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        for number in 0..<ChosenColumns.maximum + 5 {
            try source.keep(ChosenColumns(archive: "\(number)", properties: [], hidden: []))
        }
        #expect(try state.columns.read().count == ChosenColumns.maximum)
    }

    /// Regression: queries saved by another browser weren't listed, and were replaced without a question.
    @Test func seesQueriesOfOtherBrowsers() throws {
        var browser = try browser(source, "limit 3<ctrl+s>few<enter>")
        source.with { $0.savedQueries.save(SavedQuery(name: "more", archive: "City", text: "limit 9")) }
        try browser.press("<ctrl+o>", shows: "more  limit 9")
        source.with { $0.savedQueries.save(SavedQuery(name: "last", archive: "City", text: "limit 7")) }
        try browser.press("<esc><ctrl+s><ctrl+u>last<enter>", shows: "last is now: limit 7")
    }

    @Test func listsUnsavedQueries() throws {
        source.with { $0.keepingProblem = "no space" }
        let browser = try browser(source, "limit 3<ctrl+s>few<enter><ctrl+o>")
        #expect(browser.text.contains("few  limit 3"), "\(browser.text)")
    }

    /// Regression: a query too long for the file emptied it, and the oldest of too many was dropped silently.
    @Test func failedSaveKeepsOthers() throws {
        let folder = EngineSourceTests.Folder()
        let state = StateFolder(path: folder.path + "/vellum")
        let source = EngineSource(folder: folder.path, state: state)
        try source.save(SavedQuery(name: "few", archive: "City", text: "limit 3"))
        let long = SavedQuery(name: "long", archive: "City", text: String(repeating: "a", count: 5 << 20))
        #expect(throws: SourceError.self) { try source.save(long) }
        #expect(try source.savedQueries().map(\.name) == ["few"])
        try state.savedQueries.change { records in
            for number in 1..<SavedQuery.maximum {
                records.save(SavedQuery(name: "\(number)", archive: "City", text: "limit 3"))
            }
        }
        #expect(throws: SourceError.self) {
            try source.save(SavedQuery(name: "one more", archive: "City", text: "limit 3"))
        }
        #expect(try source.savedQueries().first?.name == "few")
        try source.save(SavedQuery(name: "few", archive: "City", text: "limit 4"))
        #expect(try source.savedQueries().count == SavedQuery.maximum)
    }

    /// Regression: a change removed lines of later versions and invalid lines.
    @Test func keepsUnknownLines() throws {
        let folder = EngineSourceTests.Folder()
        let state = StateFolder(path: folder.path + "/vellum")
        let source = EngineSource(folder: folder.path, state: state)
        try source.save(SavedQuery(name: "few", archive: "City", text: "limit 3"))
        let other = "{\"archives\":[\"City\"],\"kind\":2}"
        let file = URL(fileURLWithPath: state.savedQueries.path)
        try Data((other + "\nno object\n" + String(contentsOf: file, encoding: .utf8)).utf8).write(to: file)
        try source.save(SavedQuery(name: "more", archive: "City", text: "limit 9"))
        #expect(try source.savedQueries().map(\.name) == ["few", "more"])
        #expect(try String(contentsOf: file, encoding: .utf8).hasPrefix(other + "\nno object\n"))
    }
}
