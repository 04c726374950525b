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
    @Test("closing a source closes its connection")
    func disconnects() async throws {
        let served = try await Served()
        let source = served.source()
        func clients() throws -> Int {
            try served.source().serverActivity()?
                .clients.count ?? 0
        }
        try source.connect()
        let before = try clients()
        source.disconnect()
        try await Task.sleep(for: .milliseconds(100))
        #expect(try clients() == before - 1)
    }

    /// Regression: until the server had answered, no query or sort of a store began.
    @Test("opening a server that doesn't answer delays no work on stores")
    func silentServerDelaysNothing() async throws {
        let (listener, port) = try Loopback.listen()
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer {
            close(listener)
            discard(folder)
        }
        try Store.open(at: folder + "/one", mode: .readWrite, createIfMissing: true).close()
        var model = Model(
            size: Size(columns: 100, rows: 30), look: Look(theme: Theme(.dark, depth: .mono)),
            folder: folder, now: .now())
        let (answers, continuation) = AsyncStream.makeStream(of: Message.self)
        let runner = EffectRunner(source: EngineSource(folder: folder), clock: { .now() }) { message in
            if case .answer = message { continuation.yield(message) }
        }
        for key in try Key.script("Ovalkey://127.0.0.1:\(port)<enter>O\(folder)/one<enter>") {
            for effect in Browser.update(&model, .input(.key(key))) { runner.run(effect) }
        }
        let first = try #require(await answers.first { _ in true })
        _ = Browser.update(&model, first)
        #expect(model.store == folder + "/one", "\(model.said ?? "")")
    }

    @Test(
        "servers are open side by side, keep their marks, get no requests while hidden, and close separately")
    func serversSideBySide() async throws {
        let (one, two) = (try await Served(), try await Served())
        for served in [one, two] { try served.fill() }
        let folder = one.folder + "-stores"
        defer { discard(folder) }
        let state = StateFolder(path: folder + "/state")
        var browser = HeadlessBrowser(
            Model(
                size: Size(columns: 130, rows: 32), look: Look(theme: Theme(.dark, depth: .mono)),
                folder: folder, now: .now()),
            source: EngineSource(folder: folder, state: state), clock: { .now() })
        try browser.press("O\(one.address)<enter><enter>m")
        #expect(browser.model.store == one.address.description, "\(browser.text)")
        #expect(!browser.model.isReadOnly)
        try browser.press("O\(two.address)<enter>", shows: "2:127.0.0.1:\(two.server.port)")
        let before = try one.calls("info")
        try await Task.sleep(for: .milliseconds(1100))
        browser.refresh()
        #expect(try one.calls("info") == before + 1, "the question itself")
        try browser.press("1")
        #expect(browser.model.store == one.address.description && browser.model.markedKeys.count == 1)
        func clients() throws -> Int { try one.ask("CLIENT", "LIST").shownText.split(separator: "\n").count }
        let connected = try clients()
        try browser.press("hhX")
        #expect(browser.model.said?.contains("Closed") == true, "\(browser.text)")
        #expect(try await eventually { try clients() == connected - 1 })
        try browser.press("2")
        #expect(browser.model.store == two.address.description && browser.text.contains("db0"))
    }
}
