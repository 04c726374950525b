import Foundation
import Testing

/// Saved queries survive concurrent writers and killed processes.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct BrowserMemoryTests {
    private let store: TestStore
    private var state: String { store.folder / "state" }
    private var file: String { state + "/vellum/saved-queries" }

    init() throws {
        store = TestStore()
        try store.done("put", "City", "oslo", input: "{\"name\":\"Oslo\",\"size\":709037}")
    }

    private func start(pidFile: String? = nil) async throws -> Spawned {
        let browser = try PseudoTerminal.start(
            "--store '\(store.path)'", environment: ["XDG_STATE_HOME": state], pidFile: pidFile)
        try await browser.until("the archives") { browser.text.contains("City") }
        browser.type("\rQ")
        try await browser.until("the query line") { browser.text.contains("for example") }
        return browser
    }

    /// Types and saves `count` queries.
    private func save(_ count: Int, named prefix: String, in browser: Spawned) {
        browser.type((1...count).map { "\u{15}limit \($0)\u{13}\u{15}\(prefix)\($0)\r" }.joined())
    }

    /// The names in the file; fails on an incomplete line.
    private func names(location: SourceLocation = #_sourceLocation) throws -> [String] {
        guard let bytes = FileManager.default.contents(atPath: file) else { return [] }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.isEmpty || text.hasSuffix("\n"), "\(text.suffix(200))", sourceLocation: location)
        return try text.split(separator: "\n").map { line in
            let record = try JSON.object(String(line))
            let name = try #require(record["name"] as? String, sourceLocation: location)
            let number = String(name.reversed().prefix { $0.isNumber }.reversed())
            #expect(record["query"] as? String == "limit \(number)", "\(line)", sourceLocation: location)
            return name
        }
    }

    @Test func concurrentBrowsersLoseNothing() async throws {
        let browsers = [try await start(), try await start()]
        for (browser, name) in zip(browsers, ["left", "right"]) { save(25, named: name, in: browser) }
        // Each poll reads complete lines.
        try await browsers[0].until("50 saved queries") { try names().count >= 50 }
        let wanted = ["left", "right"].flatMap { name in (1...25).map { "\(name)\($0)" } }
        #expect(try names().sorted() == wanted.sorted())
        for browser in browsers { browser.type("\u{3}") }
        for browser in browsers { #expect(try await browser.finish() == 0) }
        let left = try FileManager.default.contentsOfDirectory(atPath: state + "/vellum")
        #expect(!left.contains { $0.hasSuffix(".partial") }, "\(left)")
    }

    @Test func killedBrowserLeavesCompleteFile() async throws {
        var kept = 0
        for round in 1...3 {
            let pidFile = store.folder / "pid\(round)"
            let browser = try await start(pidFile: pidFile)
            save(100, named: "round\(round)-", in: browser)
            try await browser.until("some saved queries") { try names().count >= kept + 3 * round }
            let process = try PseudoTerminal.pid(in: pidFile)
            #expect(kill(process, SIGKILL) == 0)
            _ = try await browser.finish()
            let saved = try names()
            #expect(saved.count >= kept + 3 * round && Set(saved).count == saved.count)
            kept = saved.count
        }
        // Files of killed browsers don't prevent saving.
        let browser = try await start()
        save(1, named: "last", in: browser)
        try await browser.until("the last one") { try names().contains("last1") }
        #expect(try names().count == kept + 1)
        browser.type("\u{3}")
        #expect(try await browser.finish() == 0)
    }
}
