import BrowserCore
import CacheAdvance
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import TestSupport
import Testing

/// A paused log whose messages other processes drop, delete or replace.
struct ChangedLogTests {
    private let folder = EngineSourceTests.Folder()
    private let programs = ProgramTests.Programs()
    private static let configuration = ArchiveConfiguration(kind: .log, diskLimit: 4_000, memoryLimit: nil)

    private func store() throws -> Store { try Store.open(at: folder.path + "/store") }

    /// Messages of 40 bytes, of which the log holds 100.
    private func append(_ numbers: Range<Int>, to log: Archive, _ word: String = "old") throws {
        for number in numbers {
            try log.append(
                Array("\(word) \(number) ".padding(toLength: 40, withPad: "x", startingAt: 0).utf8))
        }
    }

    private func log(_ store: Store) throws -> Archive {
        let log = try store.archive(named: "Trace", orCreate: Self.configuration)
        try append(0..<100, to: log)
        return log
    }

    private func browser(_ keys: String) throws -> HeadlessBrowser {
        let programs = programs
        return try Fixture.browser(
            at: folder.path, store: folder.path + "/store", columns: 140, look: Fixture.unicode,
            clock: { Fixture.start },
            keys: "<enter>" + keys, programs: { programs.run($0) })
    }

    private func written(_ browser: inout HeadlessBrowser) throws -> [String] {
        let path = folder.path + "/out.log"
        try browser.press("w<ctrl+u>\(path)<enter>")
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: " ").prefix(2).joined(separator: " ")
        }
    }

    @Test("dropped messages are left out of a file, and counted")
    func droppedAreNotWritten() throws {
        let store = try store()
        defer { store.close() }
        let log = try log(store)
        var browser = try browser("g ")
        try append(0..<40, to: log, "new")
        #expect(try written(&browser) == (40..<100).map { "old \($0)" })
        #expect(browser.model.said?.hasPrefix("60 of 100 messages written to") == true)
        #expect(browser.model.said?.contains("40 of 100 already removed") == true)
    }

    @Test("a filter finds the listed messages only, and the removed ones are counted")
    func droppedAreNotFound() throws {
        let store = try store()
        defer { store.close() }
        let log = try log(store)
        var browser = try browser(" ")
        try append(0..<40, to: log, "new")
        try browser.press("/new<enter>", shows: " 0 of 100 messages", "40 removed since")
        try browser.press("/<ctrl+u>old<enter>", shows: " 60 of 100 messages")
        try browser.press("<esc> ", shows: "new 39", hides: "removed since")
    }

    @Test("a program gets the selected message, and doesn't start if it was dropped")
    func droppedIsNotOpened() throws {
        let store = try store()
        defer { store.close() }
        let log = try log(store)
        var browser = try browser("g ")
        try append(0..<1, to: log, "new")
        try browser.press("o", shows: "The message was removed.")
        #expect(programs.last == nil)
        try browser.press("jo")
        #expect(programs.last?.content.starts(with: Array("old 1 ".utf8)) == true)
    }

    @Test("rejected messages and other settings don't shift the messages that are read")
    func otherEventsShiftNothing() throws {
        let store = try store()
        defer { store.close() }
        let log = try log(store)
        var browser = try browser("G ")
        for _ in 0..<6 {
            #expect(throws: StorageError.self) { try log.append([UInt8](repeating: 1, count: 5_000)) }
        }
        #expect(try written(&browser) == (0..<100).map { "old \($0)" })
        try browser.press("o")
        #expect(programs.last?.content.starts(with: Array("old 99 ".utf8)) == true)
    }

    @Test(
        "messages of an emptied or recreated log aren't mistaken for the listed ones",
        arguments: [false, true])
    func replacedMessagesAreRemoved(isRecreated: Bool) throws {
        let store = try store()
        defer { store.close() }
        var log = try log(store)
        var browser = try browser("g ")
        if isRecreated {
            try store.removeArchive(named: "Trace")
            log = try store.archive(named: "Trace", orCreate: Self.configuration)
            try append(0..<300, to: log, "new")
        } else {
            _ = try log.deleteAll()
            try append(0..<10, to: log, "new")
        }
        #expect(try written(&browser) == [])
        #expect(browser.model.said?.hasPrefix("0 of 100 messages written to") == true)
        try browser.press("o", shows: "The message was removed.")
        try browser.press("/old<enter>", shows: " 0 of 100 messages")
        try browser.press("<esc> ", shows: "new 2", hides: "removed since")
    }

    @Test("a paused list isn't read by the numbers of a rebuilt index, and is listed again after the pause")
    func rebuiltIndexIsReported() throws {
        let old = try store()
        _ = try log(old)
        old.close()
        var browser = try browser("g ")
        try FileManager.default.removeItem(atPath: folder.path + "/store/Trace.archive/index")
        let store = try store()
        defer { store.close() }
        try append(0..<120, to: store.archive(named: "Trace"), "new")
        try browser.press("o", shows: "The log's index was rebuilt")
        #expect(programs.last == nil)
        try browser.press("w<ctrl+u>\(folder.path)/out.log<enter>")
        #expect(browser.boxWords.contains("log's index was rebuilt"), "\(browser.text)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/out.log"))
        try browser.press("<esc>/new<enter>", shows: "index was rebuilt")
        try browser.press("<esc> ", shows: "new 20", hides: "removed since")
    }

    @Test("damaged messages keep their rows, are counted, and don't shift the others")
    func damagedMessagesKeepRows() throws {
        let old = try store()
        _ = try log(old)
        old.close()
        for number in [20, 21, 22, 48, 99] {
            try EngineSourceTests.flipBit(in: folder.path + "/store", behind: "old \(number) x")
        }
        var browser = try browser("")
        browser.expect(shows: "old 98", " damaged", hides: "removed")
        try browser.press("g")
        for (row, moves) in [(19, 19), (23, 4), (47, 24), (49, 2), (98, 49)] {
            try browser.press(String(repeating: "j", count: moves) + "o")
            #expect(browser.model.cursorRow == row)
            #expect(programs.last?.content.starts(with: Array("old \(row) ".utf8)) == true, "\(row)")
        }
        try browser.press("jo", shows: "The message is damaged.", "5 damaged")
        let intact = (0..<100).filter { ![20, 21, 22, 48, 99].contains($0) }
        #expect(try written(&browser) == intact.map { "old \($0)" })
        #expect(browser.model.said?.contains("5 of 100 damaged") == true, "\(browser.model.said ?? "")")
        try browser.press("/old<enter>", shows: " 95 of 100 messages", "5 damaged")
        try browser.press("g" + String(repeating: "j", count: 20) + "o")
        #expect(programs.last?.content.starts(with: Array("old 23 ".utf8)) == true)
    }

    @Test("all messages dropped during a pause are counted, not only those of the rows in view")
    func allDroppedAreCounted() throws {
        let store = try store()
        defer { store.close() }
        let log = try log(store)
        var browser = try browser("G ")
        try append(0..<80, to: log, "new")
        try browser.press("g", shows: "80 removed since")
    }

    @Test("overwritten messages of a ring file are left out of a file, and counted")
    func overwrittenAreNotWritten() throws {
        let path = folder.path + "/ring"
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let ring = try RingFile(path: path, maximumBytes: 1_000, overwritesOldMessages: true)
        for number in 100..<300 { try ring.append(Array("old \(number)".utf8)) }
        let before = try ring.messages()
        var browser = try Fixture.browser(
            at: path, store: path, source: try RingFileSource(path: path), columns: 140, isReadOnly: true,
            keys: "<enter>g ")
        for number in 100..<110 { try ring.append(Array("new \(number)".utf8)) }
        let left = before.filter(Set(try ring.messages()).contains).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(left.count < before.count && !left.isEmpty)
        #expect(try written(&browser) == left)
        #expect(browser.model.said?.hasPrefix("\(left.count) of \(before.count) messages written") == true)
    }

    @Test("the notice of a written file counts the messages that the filter didn't test")
    func untestedAreCounted() throws {
        let store = try store()
        defer { store.close() }
        let log = try store.archive(named: "Trace", orCreate: Self.configuration)
        for number in 0..<8 {
            try log.append(
                Array((number < 2 ? "ok \(number)" : String(repeating: "a", count: 30) + "!").utf8))
        }
        var browser = try browser("/^(ok.*|(a+)+)$<enter>")
        #expect(try written(&browser) == ["ok 0", "ok 1"])
        #expect(browser.model.said?.contains("6 of 8 not tested") == true, "\(browser.model.said ?? "")")
    }

    @Test("writing to a pipe without a reader fails, and the next job runs")
    func unreadPipeIsRefused() throws {
        let store = try store()
        defer { store.close() }
        _ = try log(store)
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        var browser = try browser("")
        try browser.press("w<ctrl+u>\(folder.path)/pipe<enter>")
        #expect(browser.boxWords.contains("no process reads it"), "\(browser.text)")
        try browser.press("<esc>/old 7<enter>", shows: " 11 of 100 messages")
    }

    @Test("stopping ends the wait for a pipe's reader without a dialog")
    func stoppedPipeIsLeft() throws {
        let store = try store()
        defer { store.close() }
        let log = try store.archive(
            named: "Trace", orCreate: ArchiveConfiguration(kind: .log, diskLimit: 1_000_000, memoryLimit: nil)
        )
        try log.append([UInt8](repeating: 120, count: 500_000))
        let pipe = folder.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let source = EngineSource(folder: folder.path)
        let model = Fixture.model(folder: folder.path, store: folder.path + "/store")
        var test = try UpdateTest(model, source, keys: "<enter>w<ctrl+u>\(pipe)")
        let writing = test.press(try Key.script("<enter>")[0], source, settling: false)
        #expect(writing.count == 1)
        var messages: [Message] = []
        let performer = EffectPerformer(source: source, clock: { Fixture.start })
        for effect in writing {
            performer.perform(
                effect,
                isStopped: {
                    // The pipe is full.
                    var state = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
                    return poll(&state, 1, 0) == 1
                }, send: { messages.append($0) })
        }
        for message in messages { test.send(message) }
        #expect(test.model.said == nil && !test.text.contains("Writing failed"), "\(test.text)")
    }
}
