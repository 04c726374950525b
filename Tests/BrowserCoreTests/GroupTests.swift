import ArchiveQuery
import BrowserCore
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// Disk usage of an archive by key prefix and owner.
struct GroupTests {
    /// Three users with sessions, pages in two folders, and one key without a separator.
    static func source() -> MockSource {
        let source = Fixture.source()
        let keys = [
            "user:1:name", "user:1:mail", "user:22:name", "user:é", "user:f", "img:/a/1.png", "img:/a/2.png",
            "img:/b/3.png", "plain",
        ]
        source.with { state in
            state.archives["City"] = keys.enumerated().map { number, key in
                Fixture.record(
                    key, number: number,
                    bytes: [UInt8](repeating: 0x20, count: key.hasPrefix("img") ? 1000 : 10))
            }
        }
        return source
    }

    private func line(_ browser: HeadlessBrowser, _ beginning: String) -> String? {
        browser.text.split(separator: "\n").map(String.init)
            .first { $0.drop { $0 == " " }.hasPrefix(beginning) }
    }

    @Test("writes the groups of the list")
    func groupsAreWritten() throws {
        let folder = EngineSourceTests.Folder()
        var browser = try Fixture.browser(Self.source(), columns: 100, keys: "j<enter>z")
        try browser.press("w<ctrl+u>\(folder.path)/groups.csv<enter>")
        let lines = try String(contentsOfFile: folder.path + "/groups.csv", encoding: .utf8)
            .split(separator: "\n")
        #expect(lines.first == "group,entries,bytes,hits,accessed" && lines.count > 1, "\(browser.text)")
    }

    @Test func sortsLargestGroupFirst() throws {
        let browser = try Fixture.browser(Self.source(), columns: 100, keys: "jz")
        let text = browser.text
        #expect(text.contains("3 prefixes up to \":\""), "\(text)")
        let images = try #require(line(browser, "img:"))
        #expect(images.contains(" 3 ") && images.contains("3 kB") && images.contains("98.0%"), "\(images)")
        #expect(text.contains("% bytes") && images.filter { $0 == "%" }.count == 1, "\(images)")
        let users = try #require(line(browser, "user:"))
        #expect(users.contains(" 5 ") && users.contains("50 B"), "\(users)")
        #expect(line(browser, "(other keys)")?.contains("10 B") == true)
        let places = try ["img:", "user:", "(other keys)"].map {
            try #require(text.range(of: $0)?.lowerBound)
        }
        #expect(places == places.sorted())
    }

    /// Regression: the groups were those of all entries.
    @Test("groups of filtered entries, or of a group's entries, contain only these")
    func groupsShownEntries() throws {
        var browser = try Fixture.browser(Self.source(), columns: 100, keys: "j<enter>/1<enter>z")
        #expect(line(browser, "user:")?.contains(" 2 ") == true, "\(browser.text)")
        #expect(line(browser, "img:")?.contains(" 1 ") == true && line(browser, "(other keys)") == nil)
        browser.press(try Key.script("<esc>"))
        #expect(
            browser.model.screen == .entries && browser.text.contains("3 of 9 entries"), "\(browser.text)")
        browser.press(try Key.script("<esc>W@size > 100<enter>z"))
        #expect(
            line(browser, "user:") == nil && browser.text.contains("where @size > 100"), "\(browser.text)")
    }

    @Test("filters the groups of a level by their names")
    func filtersGroups() throws {
        var browser = try Fixture.browser(Self.source(), columns: 100, keys: "jz/US")
        #expect(line(browser, "user:") != nil && line(browser, "img:") == nil, "\(browser.text)")
        try browser.press("<enter>r")
        #expect(browser.text.contains("1 of 3 prefixes") && browser.model.cursorRow == 0, "\(browser.text)")
        try browser.press("<enter>")
        #expect(line(browser, "user:22:") != nil, "the next level is filtered")
        try browser.press("h/zz<enter>", shows: "0 of 3 prefixes")
        try browser.press("<esc>")
        #expect(line(browser, "img:") != nil && browser.model.screen == .groups)
    }

    @Test func dividesGroups() throws {
        var browser = try Fixture.browser(Self.source(), columns: 100, keys: "jzj<enter>")
        #expect(line(browser, "user:1:")?.contains(" 2 ") == true, "\(browser.text)")
        #expect(line(browser, "user:22:")?.contains(" 1 ") == true)
        #expect(browser.text.contains("user:… (rest)"))
        try browser.press("h")
        #expect(line(browser, "img:") != nil)
        try browser.press("h", on: .archives)
    }

    @Test("drops other columns before it cuts names of groups")
    func namesOfGroupsStayWhole() throws {
        let browser = try Fixture.browser(Self.source(), columns: 80, keys: "jzj<enter>")
        #expect(browser.text.contains("user:… (rest)"), "\(browser.text)")
    }

    @Test func listsEntriesOfGroup() throws {
        var browser = try Fixture.browser(Self.source(), columns: 100, keys: "j<enter>zjv")
        let text = browser.text
        #expect(browser.model.screen == .entries)
        #expect(text.contains("5 of 9 entries") && text.contains("of user:"), "\(text)")
        #expect(text.contains("user:22:name") && !text.contains("img:/a"))
        // A filter applies within the group.
        try browser.press("/name<enter>", shows: "2 of 9 entries")
        try browser.press("<esc>h", on: .groups)
        try browser.press("h")
        #expect(browser.model.screen == .entries && browser.text.contains("9 entries"))
    }

    /// Regression: a group of a number above `Int64.max` had no condition.
    @Test func conditionsNameAnyNumber() {
        for number: Int128 in [5, 18_446_744_073_709_551_615, 100_000_000_000_000_000_000] {
            let group = GroupMembership.value(.named("n"), .number(.integer(number)), shown: "\(number)")
            #expect(group.predicate?.description == "n = \(number)")
        }
    }

    @Test func groupsBySeparatorOrOwner() throws {
        var browser = try Fixture.browser(Self.source(), columns: 100, keys: "jzt/<enter>")
        #expect(browser.text.contains("prefixes up to \"/\""), "\(browser.text)")
        #expect(line(browser, "img:/") != nil)
        try browser.press("towner<enter>", shows: "2 groups by owner")
        #expect(line(browser, "import") != nil && line(browser, "(no owner)") != nil)
        try browser.press("jv", shows: " of 9 entries")
        try browser.press("ht:<enter>", shows: "prefixes up to \":\"")
    }

    @Test("shows the groups within a single group, and goes back past it")
    func skipsSingleGroup() throws {
        let source = Fixture.source { state in
            state.archives["City"] = ["a", "b"].flatMap { name in
                (0..<3).map { Fixture.record("app:v1:\(name):\($0)", number: $0, bytes: [0x31]) }
            }
        }
        var browser = try Fixture.browser(source, columns: 100, keys: "jz")
        #expect(line(browser, "app:v1:a:") != nil && line(browser, "app:v1:b:") != nil)
        try browser.press("<enter>")
        #expect(browser.model.screen == .entries && browser.text.contains("app:v1:a:2"))
        try browser.press("hh", on: .archives)
        try browser.press("ztzz<enter>")
        #expect(browser.text.contains("No grouping matches."), "a choice without a match stays open")
        try browser.press("<ctrl+u>owner<enter>", shows: " by owner")
    }

    @Test("groups that are newer than a pause show their age") func groupsOfPausedList() throws {
        let clock = TestClock()
        var browser = try Fixture.browser(Self.source(), columns: 100, clock: clock, keys: "j<enter><space>")
        clock.advance(5)
        try browser.press("z", row: 0, shows: "updated 0s ago")
        try browser.press("h", row: 0, shows: "PAUSED 5s")
    }

    @Test("marks shares below the smallest shown") func smallShares() {
        #expect(Figures.percent(0.0001) == "<0.1%" && Figures.percent(0.0006) == "0.1%")
        #expect(Figures.percent(0) == "0.0%" && Figures.percent(0.99999) == "99.9%")
    }

    @Test("plan and report of a deleted group name it") func deletesGroup() throws {
        let source = Self.source()
        var browser = try Fixture.browser(source, columns: 100, keys: "jzjx")
        #expect(browser.text.contains("Expire 5 entries of group user: "), "\(browser.text)")
        try browser.press("<enter>", shows: "Expire 5 entries of group user: in 5m?")
        try browser.press("nD", shows: "Delete 5 entries of group user:?")
        try browser.press("y", says: "Deleted 5 entries, 50 B (group user:); u undoes it.")
        #expect(source.with { $0.archives["City"]?.count } == 4)
        #expect(line(browser, "user:") == nil, "\(browser.text)")
    }

    @Test("groups of every level are computed again after a change of the browser")
    func ownChangesUpdateGroups() throws {
        let source = Self.source()
        // The entries of user:1:, listed from the second level.
        var browser = try Fixture.browser(source, columns: 100, keys: "jzj<enter>/user:1<enter>v")
        #expect(browser.model.cursorKey == "user:1:name")
        try browser.press("MDy")
        #expect(source.with { $0.archives["City"]?.count } == 7)
        try browser.press("h<esc>")
        #expect(line(browser, "user:1:") == nil && line(browser, "user:22:") != nil, "\(browser.text)")
        try browser.press("h")
        #expect(line(browser, "user:")?.contains(" 3 ") == true, "\(browser.text)")
        try browser.press("uy")
        #expect(line(browser, "user:")?.contains(" 5 ") == true, "\(browser.text)")
    }

    @Test("after a delete, the cursor stays in its row, and a single remaining group isn't opened")
    func cursorStaysAfterDelete() throws {
        var browser = try Fixture.browser(Self.source(), columns: 100, keys: "jzjDy")
        #expect(browser.model.cursorRow == 1 && line(browser, "(other keys)") != nil, "\(browser.text)")
        try browser.press("Dy")
        #expect(browser.model.screen == .groups && line(browser, "img:") != nil, "\(browser.text)")
        try browser.press("Dy", shows: "No entries to group.")
    }

    @Test func sortsGroups() throws {
        var browser = try Fixture.browser(Self.source(), columns: 100, keys: "jzs")
        // By hits, then by idle time, then by name.
        try browser.press("ss")
        let text = browser.text
        let places = try ["(other keys)", "img:", "user:"].map {
            try #require(text.range(of: $0)?.lowerBound)
        }
        #expect(places == places.sorted(), "\(text)")
        try browser.press("r")
        let turned = browser.text
        let user = try #require(turned.range(of: "user:")?.lowerBound)
        #expect(user < (try #require(turned.range(of: "img:")?.lowerBound)))
    }

    /// Regression: for owners and prefixes the command listed entries.
    @Test(arguments: [
        ("", "groups City"), ("<enter>", "groups City --prefix img:/"),
        ("t/<enter>", "groups City --separator /"), ("s", "groups City --order hits"),
        ("sr", "groups City --order hits --reverse"), ("sss", "groups City --order group"),
        ("fowner<enter>", "groups City --by owner --order entries"),
        ("fkind of<enter>", "groups City --by kind --order entries"),
        ("fgeo<up><ctrl+u>\"owner\"<enter>", "groups City --by '\"owner\"' --order entries"),
    ])
    func showsCommandOfGroups(keys: String, words: String) throws {
        let browser = try Fixture.browser(Self.source(), columns: 100, keys: "jz" + keys)
        #expect(CommandLine.words(for: browser.model).hasSuffix(" " + words), "\(browser.text)")
    }

    @Test func refusesLogs() throws {
        let browser = try Fixture.browser(Fixture.source(), keys: "jjz")
        #expect(browser.text.contains("Logs can't be grouped"))
    }
}
