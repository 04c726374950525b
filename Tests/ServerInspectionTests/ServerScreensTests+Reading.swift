import BrowserCore
import Foundation
import ServerInspection
import ServerSupport
import StorageEngine
import StoreInspection
import TerminalKit
import Testing
import TestSupport

extension ServerScreensTests {
    @Test("values beside the list are read only after a confirmation, whose reason is shown")
    func valuesBesideTheList() async throws {
        let served = try await Served()
        try served.ask("MSET", "first", "contents 1", "second", "contents 2")
        guard try !served.connection.capabilities().keepsIdleTimes else { return }
        var browser = try served.browser("<enter>")
        #expect(browser.text.split(separator: "\n").count { $0.contains("access. ") } == 1)
        try browser.press("<enter><esc><down>")
        #expect(try served.calls("getrange") == 0)
        try browser.press("<enter>y<esc>")
        for key in ["<up>", "<down>"] {
            try browser.press(key)
            let number = browser.model.cursorKey == "first" ? 1 : 2
            #expect(browser.text.contains("contents \(number)"), "\(browser.text)")
        }
        // The same for the pager and other programs that receive the value.
        let source = served.source()
        #expect(throws: SourceError.self) { try source.entry("first", in: served.archive) }
        source.allowUse(of: nil, in: served.archive)
        #expect(try source.entry("first", in: served.archive) != nil)
    }

    @Test("keys that are absent when their metadata is read have no rows")
    func absentKeys() async throws {
        let served = try await Served()
        for number in 0..<30 { try served.ask("SET", "key \(number)", "1") }
        let source = served.source()
        var request = ArrangementRequest(in: served.archive, order: .found)
        let builder = ListBuilder(source: source, clock: { Timestamp.now() })
        request.base = try #require(try builder.arrange(request)).arrangement
        for number in 0..<20 { try served.ask("DEL", "key \(number)") }
        request.order = EntryOrder(.size)
        #expect(try builder.arrange(request)?.arrangement.count == 10)
    }

    @Test("targets of an action are found without their values")
    func targets() async throws {
        let served = try await Served()
        try served.ask("SET", "key", "value", "PX", "500000")
        let targets = try served.source().targets(["none", "key"], in: served.archive)
        #expect(targets.map(\.key) == ["key"] && targets.first?.hasDeadline == true)
        #expect(try served.calls("getrange") == 0)
    }

    @Test("rows of a list whose keys were deleted are replaced with few requests, up to a limit")
    func deletedKeys() async throws {
        let served = try await Served()
        _ = try served.fill(keys: 3_000)
        let source = served.source()
        var request = ArrangementRequest(in: served.archive, order: .found)
        request.visible = 20
        let builder = ListBuilder(source: source, clock: { Timestamp.now() })
        request.base = try #require(try builder.arrange(request)).arrangement
        try served.ask("FLUSHALL")
        let before = try served.calls("type")
        request.filter = "key"
        let arranged = try #require(try builder.arrange(request))
        #expect(arranged.isOutdated && arranged.arrangement.count > 2_000)
        #expect(try served.calls("type") - before < 1_000)
        let stopped = ListBuilder(source: source, clock: { Timestamp.now() }, progress: { $0 < 1 })
        #expect(try stopped.arrange(request) == nil)
    }

    @Test(
        "a paused list whose keys were deleted reads a limited number of rows at each step",
        arguments: ["G", "g"])
    func pausedListOfDeletedKeys(key: String) async throws {
        let served = try await Served()
        _ = try served.fill(keys: 5_000)
        var browser = try served.browser("<enter>" + (key == "g" ? "G" : "") + " ")
        try served.ask("FLUSHALL")
        let before = try served.calls("type")
        try browser.press(key)
        #expect(try served.calls("type") - before < 1_000)
        // The rows are marked, and not requested again.
        #expect(browser.text.split(separator: "\n").count { $0.contains(" removed ") } > 5, "\(browser.text)")
        browser.expect(hides: "can't be read")
        #expect(try served.calls("type") - before < 1_000)
    }

    @Test("a value under an LFU policy is read once where reads count as accesses")
    func valueUnderLFU() async throws {
        let served = try await Served(["--maxmemory-policy", "allkeys-lfu"])
        try served.ask("SET", "key", "value")
        guard try !served.connection.capabilities().keepsIdleTimes else { return }
        var browser = try served.browser("<enter><enter><enter>")
        #expect(browser.text.contains("value"), "\(browser.text)")
        let before = try served.calls("getrange")
        try #require(before > 0)
        // The source takes what it read within half a second for current.
        try await Task.sleep(for: .milliseconds(600))
        for _ in 0..<5 { browser.refresh() }
        #expect(try served.calls("getrange") == before)
        #expect(browser.text.prefix { $0 != "\n" }.contains(" ago"), "\(browser.text)")
    }
}
