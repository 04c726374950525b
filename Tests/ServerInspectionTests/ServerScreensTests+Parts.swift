import BrowserCore
import ServerInspection
import StoreInspection
import TerminalKit
import Testing

extension ServerScreensTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func parts() -> [(key: String, new: CollectionPart, present: CollectionPart)] {
        [
            (
                "hash", CollectionPart("hash", bytes("year"), value: bytes("1852")),
                CollectionPart("hash", bytes("name"), value: bytes("Ada"))
            ),
            (
                "list", CollectionPart("list", [], value: bytes("one")),
                CollectionPart("list", bytes("2"), value: bytes("one"))
            ),
            ("set", CollectionPart("set", bytes("new")), CollectionPart("set", bytes("member"))),
            (
                "scores", CollectionPart("zset", bytes("third"), value: bytes("3")),
                CollectionPart("zset", bytes("first"))
            ),
        ]
    }

    @Test("adds elements and removes them, and keeps the expiry time")
    func changedParts() async throws {
        let served = try await Served()
        try served.fill()
        for (key, new, present) in parts() {
            try served.ask("PEXPIRE", key, "500000")
            #expect(try served.changes().change(new, of: bytes(key), removes: false), "\(new)")
            #expect(try served.changes().change(present, of: bytes(key), removes: true), "\(present)")
            #expect((400_000...500_000).contains(try served.ask("PTTL", key).number ?? 0))
        }
        #expect(try served.ask("HGETALL", "hash").elements?.map(\.text) == ["born", "1815", "year", "1852"])
        #expect(try served.ask("LRANGE", "list", "0", "-1").elements?.map(\.text) == ["one", "two", "one"])
        #expect(try served.ask("SMEMBERS", "set").elements?.map(\.text) == ["new"])
        #expect(try served.ask("ZRANGE", "scores", "0", "-1").elements?.map(\.text) == ["second", "third"])
    }

    @Test("changes no element that is present or has another value, and no key of another type")
    func refusedParts() async throws {
        let served = try await Served()
        try served.fill()
        func isChanged(_ part: CollectionPart, _ key: String, removes: Bool) throws -> Bool {
            let before = try served.ask("DUMP", key).blob
            let isChanged = try served.changes().change(part, of: bytes(key), removes: removes)
            #expect(try (served.ask("DUMP", key).blob != before) == isChanged)
            return isChanged
        }
        for (key, new, present) in parts() {
            if key != "list" {
                #expect(try !isChanged(new, key, removes: true))
                #expect(try !isChanged(present, key, removes: false))
            }
            #expect(try !isChanged(new, "none", removes: false))
            #expect(try !isChanged(new, key == "set" ? "list" : "set", removes: false))
        }
        #expect(
            try !isChanged(CollectionPart("hash", bytes("name"), value: bytes("Eve")), "hash", removes: true))
        #expect(
            try !isChanged(CollectionPart("list", bytes("0"), value: bytes("two")), "list", removes: true))
    }

    @Test("a field is added and removed on the value screen")
    func partsOnScreen() async throws {
        let served = try await Served()
        try served.fill()
        let open = try served.connection.traits().keepsIdleTimes ? "<enter>" : "<enter>y"
        var browser = browser(served)
        browser.press(try Key.script("<enter>/hash<enter>\(open)nyear=1852<enter>"))
        #expect(browser.frame.plainText.contains("Add field year?"), "\(browser.frame.plainText)")
        #expect(try served.ask("HLEN", "hash").number == 2)
        browser.press([.character("y")])
        #expect(try served.ask("HGET", "hash", "year").text == "1852")
        #expect(browser.frame.plainText.contains("year"), "\(browser.frame.plainText)")
        browser.press(try Key.script("gD"))
        #expect(browser.model.planned?.map(\.key) == ["hash"])
        browser.press(try Key.script("<esc>jD"))
        #expect(browser.frame.plainText.contains("Remove field "), "\(browser.frame.plainText)")
        browser.press(try Key.script("<enter>Dy"))
        #expect(try served.ask("HLEN", "hash").number == 2)
    }

    @Test("a score that isn't a number is refused, and the only member is removed with its key")
    func membersOnScreen() async throws {
        let served = try await Served()
        try served.ask("ZADD", "scores", "1", "only")
        let open = try served.connection.traits().keepsIdleTimes ? "<enter>" : "<enter>y"
        var browser = browser(served)
        browser.press(try Key.script("<enter>\(open)nother=x<enter>"))
        #expect(browser.frame.plainText.contains("number"), "\(browser.frame.plainText)")
        browser.press(try Key.script("jDy"))
        #expect(try served.ask("EXISTS", "scores").number == 0)
    }
}
