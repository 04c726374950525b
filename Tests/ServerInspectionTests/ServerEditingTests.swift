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

@Suite(.serialized, .enabled(if: ValkeyServer.program != nil, "no server is installed"))
struct ServerEditingTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func store(
        _ text: String, over former: String?, _ changes: ServerChanges
    ) throws -> Bool {
        try changes.store(bytes(text), at: bytes("k"), replacing: former.map(bytes))
    }

    @Test("stores a changed string and keeps its expiry time", arguments: ["7.0.15", "5.0.15"])
    func keepsExpiryTime(version: String) async throws {
        let served = try await Served()
        // The version decides between KEEPTTL and PEXPIRE.
        let proxy = try Interposer(
            to: served.server.port,
            changing: { command, answer in
                guard command.first == "INFO", let text = String(validating: answer, as: UTF8.self),
                    let line = text.split(separator: "\r\n").first(where: { $0.hasPrefix("redis_version:") })
                else { return answer }
                // The length of the reply must not change.
                let other = "redis_version:\(version)".prefix(line.count)
                return Array(text.replacing(line, with: other.padding(line.count)).utf8)
            })
        let changes = try served.changes(by: proxy)
        try served.ask("SET", "k", "former", "PX", "500000")
        #expect(try store("new", over: "former", changes))
        #expect(try served.ask("GET", "k").text == "new")
        #expect((400_000...500_000).contains(try served.ask("PTTL", "k").number ?? 0))
        try served.ask("PERSIST", "k")
        #expect(try store("", over: "new", changes))
        #expect(try store("newer", over: "", changes))
        #expect(try served.ask("GET", "k").text == "newer")
        #expect(try served.ask("PTTL", "k").number == -1)
        #expect(try changes.reversible().isEmpty)
    }

    @Test("compares long values and bytes that aren't text")
    func longValues() async throws {
        let served = try await Served()
        let long = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }
        let key = bytes("k")
        #expect(try served.changes().store(long, at: key, replacing: nil))
        var other = long
        other[2_999_999] ^= 1
        #expect(try !served.changes().store([1], at: key, replacing: other))
        #expect(try served.ask("STRLEN", "k").number == 3_000_000)
        #expect(try served.changes().store([0, 255], at: key, replacing: long))
        #expect(try served.ask("GET", "k").blob == [0, 255])
    }

    @Test("stores nothing if the key was changed, removed or created since")
    func conflicts() async throws {
        let served = try await Served()
        #expect(try !store("new", over: "former", served.changes()))
        #expect(try served.ask("EXISTS", "k").number == 0)
        try served.ask("SET", "k", "other")
        #expect(try !store("new", over: "former", served.changes()))
        #expect(try !store("new", over: nil, served.changes()))
        #expect(try served.ask("GET", "k").text == "other")
        try served.ask("DEL", "k")
        try served.ask("RPUSH", "k", "former")
        #expect(try !store("new", over: "former", served.changes()))
        #expect(try !store("new", over: nil, served.changes()))
        #expect(try served.ask("TYPE", "k").text == "list")
    }

    private static let elements: [(type: String, name: String, shown: String, new: String)] = [
        ("hash", "born", "1815", "1816"), ("list", "1", "two", "2"), ("zset", "second", "2.5", "3"),
    ]

    @Test("stores a changed element and keeps the expiry time and the other elements", arguments: elements)
    func changedElement(type: String, name: String, shown: String, new: String) async throws {
        let served = try await Served()
        try served.fill()
        let key = type == "zset" ? "scores" : type
        try served.ask("PEXPIRE", key, "500000")
        let element = try #require(ValueElement(name, ofType: type, shown: bytes(shown)))
        func read() throws -> [UInt8]? { try served.connection.bytes(of: element, at: bytes(key), in: 0) }
        #expect(try read() == bytes(shown))
        let before = try served.ask("DUMP", key).blob
        #expect(try !served.changes().store(bytes(new), at: bytes(key), element, replacing: bytes("7")))
        #expect(try served.ask("DUMP", key).blob == before)
        #expect(try served.changes().store(bytes(new), at: bytes(key), element, replacing: bytes(shown)))
        if type == "list" {
            #expect(throws: SourceError.self, "another element is there") { try read() }
            #expect(try served.ask("LRANGE", key, "0", "-1").elements?.map(\.text) == ["one", "2", "one"])
        } else {
            #expect(try read() == bytes(new))
        }
        #expect((400_000...500_000).contains(try served.ask("PTTL", key).number ?? 0))
        try served.ask("DEL", key)
        #expect(try !served.changes().store(bytes(new), at: bytes(key), element, replacing: bytes(new)))
        #expect(try served.ask("EXISTS", key).number == 0)
    }

    @Test("an equal element that another client inserted before the selected one stays")
    func equalElements() async throws {
        let served = try await Served()
        let key = bytes("k")
        for (command, stays) in [("LPUSH", false), ("RPUSH", false), ("PERSIST", true)] {
            try served.ask("DEL", "k")
            try served.ask("RPUSH", "k", "a", "a", "c")
            let element = try #require(ValueElement("0", ofType: "list", shown: bytes("a"), of: 3))
            #expect(try served.connection.bytes(of: element, at: key, in: 0) == bytes("a"))
            if stays { try served.ask(command, "k") } else { try served.ask(command, "k", "a") }
            let before = try served.ask("DUMP", "k").blob
            #expect(
                try served.changes().store(bytes("A"), at: key, element, replacing: bytes("a")) == stays)
            #expect(try (served.ask("DUMP", "k").blob == before) != stays)
            guard !stays else { continue }
            #expect(throws: SourceError.self) { try served.connection.bytes(of: element, at: key, in: 0) }
        }
    }

    @Test("elements are those of hashes, lists and sorted sets; a score is a number")
    func elementsOfTypes() {
        #expect(ValueElement("a", ofType: "set", shown: bytes("a")) == nil)
        #expect(ValueElement("7-1", ofType: "stream", shown: nil) == nil)
        #expect(ValueElement("h'ff'", ofType: "hash", shown: nil) == .field([255]))
        let score = ValueElement("a", ofType: "zset", shown: nil)
        #expect(score?.accepts(bytes("-1e3")) == true && score?.accepts(bytes("inf")) == true)
        #expect(score?.accepts(bytes("nan")) == false && score?.accepts(bytes("one")) == false)
        for text in ["1e400", "-1e400", "1e-400"] { #expect(score?.accepts(bytes(text)) == false, "\(text)") }
        for text in ["0", "-0.0e9", "-inf", "+Infinity"] { #expect(score?.accepts(bytes(text)) == true) }
    }

    private static let writes = [["SET", "k", "other"], ["DEL", "k"], ["PEXPIRE", "k", "100000"]]

    @Test("stores nothing if another client writes between two commands", arguments: writes)
    func interleavedWrites(command: [String]) async throws {
        let served = try await Served()
        var (stored, isStored) = (0, false)
        let steps = try Interposer.interleave(command, at: served.server.port) { _ in
            try served.ask("SET", "k", "former", "PX", "500000")
        } change: {
            isStored = try store("new", over: "former", served.changes(by: $0))
        } then: { number, _ in
            let value = try served.ask("GET", "k").text
            if command[0] == "PEXPIRE" {
                // An expiry time that was set before the key was watched is kept.
                #expect(value == (isStored ? "new" : "former"), "\(number)")
                #expect(try served.ask("PTTL", "k").number ?? .max <= 100_000, "\(number)")
            } else {
                #expect(!isStored && value == (command[0] == "SET" ? "other" : nil), "\(number)")
            }
            stored += isStored ? 1 : 0
        }
        #expect(steps > 8 && stored < steps - 4)
    }

    @Test("a user without the rights stores nothing", arguments: ["-set", "-watch", "-exec", "-getrange"])
    func withoutRights(rule: String) async throws {
        let served = try await Served()
        try served.ask("SET", "k", "former")
        try served.ask("ACL", "SETUSER", "one", "on", ">word", "~*", "+@all", rule)
        let changes = try served.changes(as: "one")
        let error = #expect(throws: SourceError.self) { try store("new", over: "former", changes) }
        #expect(error?.refusal?.contains("NOPERM") == true)
        #expect(try served.ask("GET", "k").text == "former")
    }

    @Test(
        "an edit with a lost reply, or with a false conflict, is read back",
        arguments: ["?\r\n", "*-1\r\n", "_\r\n"])
    func lostReply(answer: String) async throws {
        let served = try await Served()
        try served.ask("SET", "k", "former")
        try served.ask("RPUSH", "list", "a")
        // The first reply is invalid and ends the connection.
        let proxy = try served.proxy { $0.first == "EXEC" ? answer : nil }
        let changes = try served.changes(by: proxy)
        #expect(try store("new", over: "former", changes))
        #expect(try served.ask("GET", "k").text == "new")
        let element = try #require(ValueElement("0", ofType: "list", shown: bytes("a"), of: 1))
        #expect(try changes.store(bytes("A"), at: bytes("list"), element, replacing: bytes("a")))
    }

    @Test("an edit whose connection ends before its execution is known not to be stored")
    func lostConnection() async throws {
        let served = try await Served()
        try served.ask("SET", "k", "former")
        let port = served.server.port
        let proxy = try Interposer(
            to: port,
            before: {
                guard $0.first == "EXEC" else { return }
                _ = try? PlainClient(port: port).command("CLIENT", "KILL", "TYPE", "normal")
            })
        let changes = try served.changes(by: proxy)
        let error = #expect(throws: SourceError.self) { try store("new", over: "former", changes) }
        #expect(error?.description.hasSuffix("nothing was changed") == true, "\(error as Any)")
        #expect(try PlainClient(port: port).command("GET", "k").text == "former")
    }

    private static let lists: [(before: [String], adds: Bool, isExecuted: Bool, other: [String])] = [
        (["a", "x"], true, true, ["LPOP", "k"]), (["x", "x"], true, false, ["RPUSH", "k", "x"]),
        (["a", "a", "a"], false, true, ["RPUSH", "k", "a"]), (["a", "a", "a"], false, false, ["LPOP", "k"]),
    ]

    @Test("after a lost reply it is unknown whether a list got or lost an element", arguments: lists)
    func lostReplyOfList(before: [String], adds: Bool, isExecuted: Bool, other: [String]) async throws {
        let served = try await Served()
        for element in before { try served.ask("RPUSH", "k", element) }
        let port = served.server.port
        let command = RESPCommand(words: other.map(bytes))
        let proxy = try Interposer(
            to: port,
            before: {
                guard $0.first == "EXEC", !isExecuted, let client = try? PlainClient(port: port) else {
                    return
                }
                _ = try? client.command("CLIENT", "KILL", "TYPE", "normal")
                _ = try? client.command(command)
            },
            changing: { words, answer in
                guard words.first == "EXEC", isExecuted else { return answer }
                _ = try? PlainClient(port: port).command(command)
                return Array("?\r\n".utf8)
            })
        let changes = try served.changes(by: proxy)
        let element = adds ? ValueElement.end : .index(1, shown: bytes("a"), of: before.count)
        let error = #expect(throws: SourceError.self) {
            try changes.store(
                adds ? bytes("x") : nil, at: bytes("k"), element, replacing: adds ? nil : bytes("a"))
        }
        #expect(
            error?.description.hasSuffix("unknown whether the value was changed") == true, "\(error as Any)")
    }

    @Test("a reply of an unfinished transaction isn't taken for the state of an element")
    func queuedReply() async throws {
        let served = try await Served()
        try served.fill()
        let port = served.server.port
        let isQueued = Guarded(false)
        let proxy = try Interposer(
            to: port,
            before: {
                guard $0.first == "EXEC" else { return }
                _ = try? PlainClient(port: port).command("HSET", "hash", "other", "1")
                isQueued.withLock { $0 = true }
            },
            changing: { command, answer in
                let queues = command.first == "HGET" && isQueued.withLock { $0 }
                if queues { isQueued.withLock { $0 = false } }
                return queues ? Array("+QUEUED\r\n".utf8) : answer
            })
        let changes = try served.changes(by: proxy)
        let element = ValueElement.field(bytes("name"))
        let error = #expect(throws: SourceError.self) {
            try changes.store(nil, at: bytes("hash"), element, replacing: bytes("Ada"))
        }
        #expect(error?.description.hasSuffix("nothing was changed") == true, "\(error as Any)")
        #expect(try served.ask("HGET", "hash", "name").text == "Ada")
    }

    @Test(
        "an element whose reply has another type is an error", arguments: ["+QUEUED\r\n", ":1\r\n", "*0\r\n"])
    func replyTypes(answer: String) async throws {
        let served = try await Served()
        try served.fill()
        let proxy = try served.proxy { $0.first == "HGET" ? answer : nil }
        let element = ValueElement.field(bytes("name"))
        #expect(throws: SourceError.self) {
            try served.connection(by: proxy).bytes(of: element, at: bytes("hash"), in: 0)
        }
    }

    // MARK: In the browser

    @Test("edits a string in the list and on its screen, after a plan")
    func editing() async throws {
        let served = try await Served()
        try served.ask("SET", "text", "hello", "PX", "500000")
        for (keys, text) in [("<enter>e", "hello you"), ("<enter><enter><enter>e", "hello you you")] {
            var browser = try served.browser(keys) { $0.replacing("\n", with: " you\n") }
            #expect(browser.text.contains("The expiry time is kept"), "\(browser.text)")
            #expect(try served.ask("GET", "text").text != text)
            try browser.press("y")
            #expect(try served.ask("GET", "text").text == text, "\(browser.text)")
            #expect(try served.ask("PTTL", "text").number ?? 0 > 400_000)
            #expect(browser.model.said?.contains("Stored") == true)
        }
    }

    @Test("edits JSON as indented text and stores it without white space again")
    func json() async throws {
        let served = try await Served()
        try served.ask("SET", "document", #"{"name":"Ada","born":1815}"#)
        let shown = Guarded("")
        _ = try served.browser("<enter>ey") { text in
            shown.withLock { $0 = text }
            return text.replacing("Ada", with: "Eve")
        }
        #expect(shown.withLock { $0 }.hasPrefix("{\n"))
        #expect(try served.ask("GET", "document").text == #"{"name":"Eve","born":1815}"#)
    }

    @Test("creates a string; JSON stays as it is written")
    func newEntries() async throws {
        let served = try await Served()
        try served.ask("SET", "used", "1")
        let texts = ["first": "words\n", "second": "{ \"a\": [1] }\n"]
        for (key, text) in texts {
            let browser = try served.browser("<enter>n\(key)<enter>y") { _ in text }
            #expect(
                try served.ask("GET", key).text == String(text.dropLast()), "\(browser.text)")
            #expect(browser.text.contains(key))
        }
        let edits = Guarded(0)
        let browser = try served.browser("<enter>nused<enter>y") { text in
            edits.withLock { $0 += 1 }
            return text + "2\n"
        }
        #expect(browser.text.contains("The key is in use"), "\(browser.text)")
        #expect(try edits.withLock { $0 } == 0 && served.ask("GET", "used").text == "1")
    }

    @Test("a key that another client changes during the edit stays, and the text is kept")
    func changedDuringEdit() async throws {
        let served = try await Served()
        for change in [["SET", "text", "other"], ["DEL", "text"]] {
            try served.ask("SET", "text", "hello")
            let port = served.server.port
            let kept = try served.browser("<enter>ey") { _ in
                _ = try? PlainClient(port: port).command(RESPCommand(words: change.map { Array($0.utf8) }))
                return "mine\n"
            }
            #expect(try served.ask("GET", "text").text == (change[0] == "SET" ? "other" : nil))
            #expect(kept.text.contains("Your text is kept"), "\(kept.text)")
        }
    }

    @Test("edits the selected field, element or score", arguments: elements)
    func editedElement(type: String, name: String, shown: String, new: String) async throws {
        let served = try await Served()
        try served.fill()
        let key = type == "zset" ? "scores" : type
        let touches = try !served.connection.capabilities().keepsIdleTimes
        let open = "<enter>/\(key)<enter><enter>" + (touches ? "<enter>" : "") + "<down><down>"
        var browser = try served.browser(open + "e") { text in
            text == shown + "\n" ? new + "\n" : text
        }
        #expect(browser.text.contains("The expiry time is kept"), "\(browser.text)")
        try browser.press("y")
        let text = browser.text
        #expect(browser.model.said?.contains("Stored \(key)") == true && text.contains(new), "\(text)")
    }

    @Test("an element of a list that another client makes longer during the edit stays")
    func longerList() async throws {
        let served = try await Served()
        try served.fill()
        let touches = try !served.connection.capabilities().keepsIdleTimes
        let open = "<enter>/list<enter><enter>" + (touches ? "<enter>" : "") + "<down><down>"
        let port = served.server.port
        let kept = try served.browser(open + "ey") { _ in
            _ = try? PlainClient(port: port).command("RPUSH", "list", "more")
            return "2\n"
        }
        #expect(kept.text.contains("Your text is kept"), "\(kept.text)")
        #expect(try served.ask("LINDEX", "list", "1").text == "two")
    }

    @Test("edits whole strings only, and nothing if it is read-only", arguments: ["hash", "list", "stream"])
    func refusals(key: String) async throws {
        let served = try await Served()
        try served.fill()
        let edits = Guarded(0)
        func edit(_ keys: String, isReadOnly: Bool = false) throws -> HeadlessBrowser {
            try served.browser(keys, isReadOnly: isReadOnly) { text in
                edits.withLock { $0 += 1 }
                return "other\n"
            }
        }
        let refused = try edit("<enter>/\(key)<enter>e")
        #expect(refused.text.contains("Only strings"), "\(refused.text)")
        _ = try edit("<enter>/text<enter>ey", isReadOnly: true)
        #expect(edits.withLock { $0 } == 0)
        #expect(try served.ask("TYPE", key).text == key && served.ask("GET", "text").text == "hello")
    }
}

extension StringProtocol {
    /// The text with spaces to a length in characters.
    fileprivate func padding(_ count: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, count - self.count))
    }
}
