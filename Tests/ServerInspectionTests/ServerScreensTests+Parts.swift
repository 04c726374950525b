import BrowserCore
import ServerInspection
import ServerSupport
import StorageEngine
import StoreInspection
import TerminalKit
import Testing
import TestSupport
import ValkeyWire

extension ServerScreensTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// An element and its value.
    private typealias Part = (element: ValueElement, value: String)

    private static func parts() -> [(key: String, new: Part, present: Part)] {
        func name(_ text: String) -> [UInt8] { Array(text.utf8) }
        return [
            ("hash", (.field(name("year")), "1852"), (.field(name("name")), "Ada")),
            ("list", (.end, "one"), (.index(2, shown: name("one"), of: nil), "one")),
            ("set", (.member(name("new")), ""), (.member(name("member")), "")),
            ("scores", (.score(name("third")), "3"), (.score(name("first")), "-1.0")),
        ]
    }

    private func add(_ part: Part, to key: String, _ changes: ServerChanges) throws -> Bool {
        try changes.store(bytes(part.value), at: bytes(key), part.element, replacing: nil)
    }

    private func remove(_ part: Part, from key: String, _ changes: ServerChanges) throws -> Bool {
        try changes.store(nil, at: bytes(key), part.element, replacing: bytes(part.value))
    }

    private func changes(
        of key: String, adding new: Part, removing present: Part
    ) -> [(ServerChanges) throws -> Bool] {
        [{ try add(new, to: key, $0) }, { try remove(present, from: key, $0) }]
    }

    @Test("adds elements and removes them, and keeps the expiry time")
    func changedParts() async throws {
        let served = try await Served()
        try served.fill()
        for (key, new, present) in Self.parts() {
            try served.ask("PEXPIRE", key, "500000")
            #expect(try add(new, to: key, served.changes()), "\(new)")
            #expect(try remove(present, from: key, served.changes()), "\(present)")
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
        func changesNothing(_ key: String, _ change: (ServerChanges) throws -> Bool) throws -> Bool {
            let before = try served.ask("DUMP", key).blob
            return try !change(served.changes()) && served.ask("DUMP", key).blob == before
        }
        for (key, new, present) in Self.parts() {
            if key != "list" {
                #expect(try changesNothing(key) { try remove(new, from: key, $0) }, "\(new)")
                #expect(try changesNothing(key) { try add(present, to: key, $0) }, "\(present)")
            }
            if key != "set" {
                #expect(try changesNothing(key) { try remove((present.element, "7"), from: key, $0) })
            }
            #expect(try changesNothing("none") { try add(new, to: "none", $0) })
            let other = key == "set" ? "list" : "set"
            #expect(try changesNothing(other) { try add(new, to: other, $0) })
        }
    }

    @Test(
        "an added or removed element with a lost reply, or with a false conflict, is read back",
        arguments: ["?\r\n", "*-1\r\n"])
    func lostReplies(answer: String) async throws {
        let served = try await Served()
        try served.fill()
        // The first reply is invalid and ends the connection.
        let proxy = try Interposer(
            to: served.server.port, changing: { $0.first == "EXEC" ? Array(answer.utf8) : $1 })
        for (key, new, present) in Self.parts() {
            for change in changes(of: key, adding: new, removing: present) {
                let before = try served.ask("DUMP", key).blob
                if key == "list" {
                    // Another client may have pushed an equal element, or removed one.
                    let error = #expect(throws: SourceError.self) { try change(served.changes(by: proxy)) }
                    #expect(error?.description.contains("unknown") == true)
                } else {
                    #expect(try change(served.changes(by: proxy)), "\(key)")
                }
                #expect(try served.ask("DUMP", key).blob != before)
            }
        }
    }

    @Test(
        "an element outside of lists is known to be unchanged after a lost connection; each after a conflict")
    func unchangedParts() async throws {
        let served = try await Served()
        try served.fill()
        let port = served.server.port
        let interruption = Guarded<[String]>([])
        @Sendable func ask(_ words: [String]) throws -> RESPValue {
            try PlainClient(port: port).command(RESPCommand(words: words.map { Array($0.utf8) }))
        }
        let proxy = try Interposer(
            to: port, before: { if $0.first == "EXEC" { _ = try? ask(interruption.withLock { $0 }) } })
        for (key, new, present) in Self.parts() {
            _ = try ask(["PEXPIRE", key, "500000"])
            let before = try ask(["DUMP", key])
            for change in changes(of: key, adding: new, removing: present) {
                interruption.withLock { $0 = ["CLIENT", "KILL", "TYPE", "normal"] }
                let error = #expect(throws: SourceError.self) { try change(served.changes(by: proxy)) }
                let end = key == "list" ? "unknown whether the value was changed" : "nothing was changed"
                #expect(error?.description.hasSuffix(end) == true, "\(error as Any)")
                interruption.withLock { $0 = ["PEXPIRE", key, "400000"] }
                #expect(try !change(served.changes(by: proxy)), "\(key)")
                #expect(try ask(["DUMP", key]) == before)
            }
        }
    }

    @Test(
        "a refused change of an element states the refusal",
        arguments: ["OOM command not allowed", "READONLY replica", "MISCONF disk", "MOVED 1 127.0.0.1:1"])
    func refusedChanges(message: String) async throws {
        let served = try await Served()
        try served.fill()
        let port = served.server.port
        // The change of the key's expiry time keeps the server from executing what the proxy reports as refused.
        let proxy = try Interposer(
            to: port,
            before: {
                if $0.first == "EXEC" {
                    _ = try? PlainClient(port: port).command(RESPCommand("PEXPIRE") + "hash" + 400_000)
                }
            },
            changing: {
                ["HSETNX", "HDEL"].contains($0.first)
                    ? Array("-\(message)\r\n".utf8)
                    : $0.first == "EXEC" ? Array("-EXECABORT discarded\r\n".utf8) : $1
            })
        for bytes in [bytes("new"), nil] {
            let field = ValueElement.field(self.bytes(bytes == nil ? "name" : "year"))
            let error = #expect(throws: SourceError.self) {
                try served.changes(by: proxy).store(
                    bytes, at: self.bytes("hash"), field, replacing: bytes == nil ? self.bytes("Ada") : nil)
            }
            #expect(error?.refusal == message, "\(error as Any)")
        }
    }

    /// A browser that shows the value of a key, and then gets these keys. A question about reading, which may count, is answered.
    private func valueScreen(
        of key: String, _ served: Served, _ keys: String
    ) throws -> HeadlessBrowser {
        let open = try served.connection.capabilities().keepsIdleTimes ? "<enter>" : "<enter>y"
        return try served.browser("<enter>/\(key)<enter>\(open)\(keys)")
    }

    @Test("texts for an element at the end of a list state no condition that isn't checked")
    func elementsOfLists() async throws {
        let served = try await Served()
        try served.fill()
        var browser = try valueScreen(of: "list", served, "none<enter>")
        #expect(!browser.frame.plainText.contains("absent"), "\(browser.frame.plainText)")
        browser.press([.character("y")])
        #expect(try served.ask("LLEN", "list").number == 4)
        #expect(browser.model.said?.contains("element at the end") == true, "\(browser.model.said ?? "")")
    }

    @Test("a field is added and removed on the value screen")
    func partsOnScreen() async throws {
        let served = try await Served()
        try served.fill()
        var browser = try valueScreen(of: "hash", served, "nyear=1852<enter>")
        #expect(browser.text.contains("Add field year?"), "\(browser.text)")
        #expect(try served.ask("HLEN", "hash").number == 2)
        try browser.press("y")
        #expect(try served.ask("HGET", "hash", "year").text == "1852")
        #expect(browser.text.contains("year"), "\(browser.text)")
        try browser.press("gD")
        #expect(browser.model.planned?.map(\.key) == ["hash"])
        try browser.press("<esc>jD", shows: "Remove field ")
        try browser.press("<enter>Dy")
        #expect(try served.ask("HLEN", "hash").number == 2)
    }

    @Test("an entry of a stream isn't removed, and doesn't stand for its key")
    func entriesOfStreams() async throws {
        let served = try await Served()
        try served.fill()
        var browser = try valueScreen(of: "stream", served, "jD")
        #expect(browser.model.planned == nil && browser.model.said?.contains("first row") == true)
        try browser.press("gD")
        #expect(browser.model.planned?.map(\.key) == ["stream"])
    }

    @Test("bytes in hexadecimal digits are added to each type")
    func bytesOnScreen() async throws {
        let served = try await Served()
        try served.fill()
        _ = try valueScreen(of: "list", served, "nh'ff'<enter>y")
        #expect(try served.ask("LINDEX", "list", "-1").blob == [255])
        _ = try valueScreen(of: "hash", served, "nh'fe'=h'ff'<enter>y")
        let values = try served.ask("HGETALL", "hash").elements?.map(\.blob)
        #expect(values?.suffix(2) == [[254], [255]], "\(values ?? [])")
        _ = try valueScreen(of: "list", served, "n\\h'ff'<enter>y")
        #expect(try served.ask("LINDEX", "list", "-1").text == "h'ff'")
    }

    @Test("a score that isn't a number is refused, and the only member is removed with its key")
    func membersOnScreen() async throws {
        let served = try await Served()
        try served.ask("ZADD", "scores", "1", "only")
        var browser = try valueScreen(of: "scores", served, "nother=x<enter>")
        #expect(browser.text.contains("number"), "\(browser.text)")
        try browser.press("jDy")
        #expect(try served.ask("EXISTS", "scores").number == 0)
    }
}
