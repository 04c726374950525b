import BrowserCore
import Foundation
import ServerInspection
import ServerSupport
import StorageEngine
import StoreInspection
import TerminalKit
import Testing
import TestSupport
import ValkeyWire

extension ServerScreensTests {
    @Test(
        "V lists the keys that the policy evicts first",
        arguments: [
            ("allkeys-lru", "old"), ("volatile-lru", "later"), ("volatile-ttl", "soon"),
            ("allkeys-random", nil),
            ("noeviction", nil),
        ] as [(String, String?)])
    func likelyVictims(policy: String, first: String?) async throws {
        let served = try await Served(["--maxmemory", "100mb", "--maxmemory-policy", policy])
        try served.ask("SET", "old", "1")
        try served.ask("SET", "later", "1", "EX", "900")
        try await Task.sleep(for: .milliseconds(2100))
        try served.ask("SET", "soon", "1", "EX", "300")
        try served.ask("SET", "new", "1")
        try served.ask("TOUCH", policy == "allkeys-lru" ? "later" : "old")
        var browser = try served.browser("<enter>V")
        #expect(browser.model.said != nil)
        #expect(
            browser.text.contains("likely victims") == (first != nil), "\(browser.text)"
        )
        if let first {
            #expect(browser.model.cursorKey == first, "\(browser.text)")
            #expect(browser.model.said?.contains(" ago") == false, "the order was just requested")
            try browser.press("V")
            #expect(browser.model.cursorKey != first)
            #expect(browser.model.said?.contains(" ago") == true)
        }
    }

    @Test("V with a filter states that other keys are hidden, and its condition ends with its order")
    func likelyVictimsOfFilter() async throws {
        let served = try await Served(["--maxmemory", "100mb", "--maxmemory-policy", "volatile-ttl"])
        try served.ask("SET", "one", "1", "EX", "300")
        try served.ask("SET", "other", "1")
        var browser = try served.browser("<enter>/one<enter>V")
        #expect(
            browser.model.said?.contains("filter hides other keys") == true, "\(browser.model.said ?? "")")
        try browser.press("<esc>V", shows: "1 of 2 entries")
        try browser.press("1", hides: "1 of 2 entries")
        try served.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        try browser.press("V")
        try await Task.sleep(for: .milliseconds(1100))
        browser.refresh()
        try browser.press("V", hides: "@ttl")
    }

    @Test("V adds a condition to the user's, which stays when another order is chosen")
    func likelyVictimsOfCondition() async throws {
        let served = try await Served(["--maxmemory", "100mb", "--maxmemory-policy", "volatile-ttl"])
        for (key, seconds) in [("one", "300"), ("two", "600"), ("six", "900")] {
            try served.ask("SET", key, "1", "EX", seconds)
        }
        try served.ask("SET", "lasting", "1")
        var browser = try served.browser("<enter>W@key != \"one\"<enter>V")
        #expect(browser.model.cursorKey == "two", "\(browser.text)")
        #expect(browser.text.contains("2 of 4 entries"), "\(browser.text)")
        try browser.press("1", shows: "3 of 4 entries")
        try browser.press("V<esc>", shows: "3 of 4 entries")
    }

    @Test("V moves on a paused list")
    func likelyVictimsOfPausedList() async throws {
        let served = try await Served(["--maxmemory", "100mb", "--maxmemory-policy", "volatile-ttl"])
        for (key, seconds) in [("one", "300"), ("two", "600")] {
            try served.ask("SET", key, "1", "EX", seconds)
        }
        var browser = try served.browser("<enter><space>V")
        #expect(browser.model.cursorKey == "one", "\(browser.text)")
        try browser.press("V")
        #expect(browser.model.cursorKey == "two", "\(browser.text)")
    }

    @Test("V lists only keys with an expiry time if the policy evicts those at random")
    func randomVolatileVictims() async throws {
        let served = try await Served(["--maxmemory", "100mb", "--maxmemory-policy", "volatile-random"])
        try served.ask("SET", "one", "1", "EX", "300")
        try served.ask("SET", "lasting", "1")
        let browser = try served.browser("<enter>V")
        #expect(browser.model.cursorKey == "one" && browser.model.said?.contains("equally") == true)
        // No column title shows a sort direction.
        browser.expect(shows: "1 of 2 entries", hides: "likely victims", "▲", "▼")
    }

    @Test("V lists no victims of a volatile policy without an expiring key", arguments: ["lru", "random"])
    func noVolatileVictims(policy: String) async throws {
        let served = try await Served(["--maxmemory", "100mb", "--maxmemory-policy", "volatile-\(policy)"])
        try served.ask("SET", "lasting", "1")
        let browser = try served.browser("<enter>V")
        #expect(browser.model.said?.contains("othing can be evicted") == true, "\(browser.model.said ?? "")")
        #expect(browser.text.contains("lasting"))
    }
}
