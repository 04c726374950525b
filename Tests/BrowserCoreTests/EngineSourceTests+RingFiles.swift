import BrowserCore
import CacheAdvance
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import TestSupport
import Testing

extension EngineSourceTests {
    /// Regression: the list showed a ring file as empty, and as present after its removal.
    @Test func listsRingFile() throws {
        let path = folder.path + "/ring"
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let ring = try RingFile(path: path, maximumBytes: 1_000, overwritesOldMessages: true)
        for text in ["one", "two", "three"] { try ring.append(Array(text.utf8)) }
        var browser = try Fixture.browser(
            at: path, store: path, source: try RingFileSource(path: path), isReadOnly: true)
        try browser.press("yc")
        let command = String(decoding: browser.sent.last ?? [], as: UTF8.self)
        #expect(command == String(decoding: copied("vellum tail \(path)"), as: UTF8.self))
        try browser.press("<enter>ys")
        let code = "try RingFile(path: \"\(path)\", maximumBytes: 0, overwritesOldMessages: false, "
        #expect(browser.sent.last == copied(code + "isReadOnly: true).messages()"))
        try browser.press("h")
        func row() -> [String] {
            let row = browser.lines.first { $0.contains("ring  ") } ?? ""
            return row.split(separator: " ").drop { $0 != "ring" }.map(String.init)
        }
        #expect(row().prefix(3) == ["ring", "1", "3"], "\(browser.text)")
        try browser.press("f", shows: "a ring file can't be a favorite")
        try FileManager.default.removeItem(atPath: path)
        try browser.press("R")
        #expect(row().prefix(3) == ["ring", "-", "-"], "\(browser.text)")
    }

    private func ring(_ name: String) throws -> String {
        let path = folder.path + "/" + name
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        try RingFile(path: path, maximumBytes: 1_000, overwritesOldMessages: true).append([1])
        return path
    }

    /// Regression: the ring file's messages were shown as those of the store.
    @Test("another store is opened beside a ring file, which is shown again from the list")
    func storeAfterRingFile() throws {
        let (store, _) = try fill(path)
        store.close()
        let ring = try ring("ring")
        let source = try RingFileSource(path: ring)
        #expect(throws: SourceError.self) { try source.figures(store: path) }
        var browser = try Fixture.browser(at: ring, store: ring, source: source, isReadOnly: true)
        try browser.press("h<esc>")
        #expect(browser.model.store == ring)
        try browser.press("hO\(path)<enter>")
        #expect(browser.model.store == StorePath.absolute(path), "\(browser.text)")
        #expect(browser.text.contains("City") && browser.text.contains("2:"), "\(browser.text)")
        try browser.press("1")
        #expect(browser.model.store == ring && browser.text.contains("1:ring"), "\(browser.text)")
    }

    @Test("a ring file is opened beside stores, for reading only, and its list has them")
    func ringFileAfterStores() throws {
        let paths = ["one", "two"].map { folder.path + "/" + $0 }
        for path in paths { try fill(path).0.close() }
        let ring = try ring("ring")
        let state = StateFolder(path: folder.path + "/state")
        let stores = EngineSource(folder: folder.path, state: state)
        var browser = try Fixture.browser(at: folder.path, store: paths[0], source: stores)
        try browser.press("O\(paths[1])<enter>O\(ring)<enter>")
        #expect(
            browser.model.store == StorePath.absolute(ring) && browser.model.isReadOnly, "\(browser.text)")
        #expect(browser.text.contains("3:ring"), "\(browser.text)")
        try browser.press("2")
        #expect(browser.model.store == paths[1] && !browser.model.isReadOnly, "\(browser.text)")
        let elsewhere = EngineSource(folder: folder.path + "/none", state: state)
        let listed = try RingFileSource(path: ring, remembers: elsewhere).stores().stores
        #expect(listed.first?.path == StorePath.absolute(ring))
        #expect(Set(listed.dropFirst().map(\.path)) == Set(paths.map(StorePath.absolute)))
    }

    /// Regression: only its number reached a ring file, and it couldn't be closed.
    @Test("a ring file opened beside stores is listed until it is closed")
    func listsOpenRingFile() throws {
        try fill(folder.path + "/one").0.close()
        let ring = try ring("ring")
        var browser = HeadlessBrowser(
            Model(
                size: Size(columns: 100, rows: 30), look: Fixture.ascii, folder: folder.path,
                now: Timestamp.now()),
            source: EngineSource(folder: folder.path), clock: { Timestamp.now() })
        browser.press(try Key.script("O\(ring)<enter>hG"))
        let row = try #require(browser.lines.first { $0.contains("ring  ") }, "\(browser.text)")
        let cells = row.split(separator: " ").map(String.init)
        #expect(cells.starts(with: ["1", "ring", "1", "1"]) && row.hasSuffix("/ring"), "\(row)")
        try browser.press("f", shows: "a ring file can't be a favorite")
        browser.press(try Key.script("<enter>"))
        #expect(browser.model.store == StorePath.absolute(ring), "\(browser.text)")
        browser.press(try Key.script("hGX"))
        #expect(browser.model.said == "Closed ring." && !browser.text.contains("ring  "), "\(browser.text)")
    }

    /// Regression: the closing released the source that was opened after it.
    @Test("a ring file stays open if it is opened again before it was closed")
    func opensBeforeClosing() throws {
        let ring = try ring("ring")
        let performer = EffectPerformer(
            source: EngineSource(folder: folder.path), clock: { Timestamp.now() })
        var model = Model(
            size: Size(columns: 100, rows: 30), look: Fixture.ascii, folder: folder.path,
            now: Timestamp.now())
        var held: [Effect] = []
        func settle(_ effects: [Effect], holds: Bool = true) {
            var queue = effects
            while !queue.isEmpty {
                let effect = queue.removeFirst()
                if holds, effect.description.hasPrefix("close ") {
                    held.append(effect)
                    continue
                }
                performer.perform(effect, isStopped: { false }) { queue += Browser.update(&model, $0) }
            }
        }
        settle(Browser.start(&model))
        for key in try Key.script("O\(ring)<enter>hGXO\(ring)<enter>") {
            settle(Browser.update(&model, .input(.key(key))))
        }
        #expect(held.count == 1 && model.store == StorePath.absolute(ring))
        settle(held, holds: false)
        settle(Browser.update(&model, .input(.key(.character("R")))))
        let text = Browser.frame(model).plainText
        #expect(!text.contains("UNREACHABLE") && text.contains("1 appended"), "\(text)")
    }

    @Test("a ring file that was moved to the path of the shown one is shown", arguments: [false, true])
    func showsReplacement(keepsOld: Bool) throws {
        let path = try ring("ring")
        let other = folder.path + "/other"
        #expect(FileManager.default.createFile(atPath: other, contents: nil))
        let new = try RingFile(path: other, maximumBytes: 1_000, overwritesOldMessages: true)
        for number in 0..<5 { try new.append(Array("new \(number)".utf8)) }
        var browser = try Fixture.browser(
            at: path, store: path, source: try RingFileSource(path: path), isReadOnly: true, keys: "<enter>")
        if keepsOld { #expect(rename(path, folder.path + "/rotated") == 0) }
        #expect(rename(other, path) == 0)
        browser.refresh()
        browser.expect(shows: "5 messages", "new 0", hides: "closed or removed")
        browser.press(try Key.script("hhO\(path)<enter>"))
        #expect(browser.model.store == StorePath.absolute(path) && !browser.text.contains("UNREACHABLE"))
    }

    @Test("a text file isn't reported as a ring file of another version")
    func textIsNoRingFile() throws {
        let path = folder.path + "/text"
        try Data(repeating: UInt8(ascii: "r"), count: 100).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: RingFileError.self) { try RingFileSource(path: path) }
        #expect(error == .unsupportedVersion(path: path, found: UInt8(ascii: "r")))
        let later = RingFileError.unsupportedVersion(path: path, found: 2)
        #expect(error?.description.contains("neither a store") == true)
        #expect(!later.description.contains("neither a store"))
    }
}
