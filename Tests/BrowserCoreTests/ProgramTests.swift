import BrowserCore
import Foundation
import StorageEngine
import StoreInspection
import Synchronization
import TerminalKit
import Testing

/// Values in other programs: pager, pipe, file, editor.
struct ProgramTests {
    private let source = Fixture.source()

    /// Records calls of programs and imitates them.
    final class Programs: Sendable {
        struct Run: Sendable {
            var program: String
            var path: String
            var content: [UInt8]
            var permissions: Int
        }

        let runs = Mutex<[Run]>([])
        /// Returns the edited text; nil leaves it unchanged.
        let edit: @Sendable ([UInt8]) -> [UInt8]?
        let status: Int32

        init(status: Int32 = 0, edit: @escaping @Sendable ([UInt8]) -> [UInt8]? = { _ in nil }) {
            self.edit = edit
            self.status = status
        }

        var last: Run? { runs.withLock { $0.last } }
        var count: Int { runs.withLock { $0.count } }

        func run(_ program: TerminalProgram) -> Result<Int32, SourceError> {
            let path = program.arguments[0]
            let url = URL(fileURLWithPath: path)
            let content = (try? Data(contentsOf: url)).map { Array($0) } ?? []
            let mode = (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
            runs.withLock {
                $0.append(
                    Run(program: program.description, path: path, content: content, permissions: mode ?? 0))
            }
            if let edited = edit(content) { try? Data(edited).write(to: url) }
            return .success(status)
        }

        /// Removes the folder of a text that the browser kept.
        func discardText() throws {
            let file = URL(fileURLWithPath: try #require(last?.path))
            try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        }
    }

    private func browser(
        _ keys: String, _ source: MockSource, _ programs: Programs, isReadOnly: Bool = false
    ) throws -> HeadlessBrowser {
        try Fixture.browser(source, isReadOnly: isReadOnly, keys: keys, programs: { programs.run($0) })
    }

    private func value(_ key: String, _ source: MockSource) -> String? {
        source[key].map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    // MARK: Pager and pipe

    @Test func pagerGetsTemporaryPrivateFile() throws {
        let programs = Programs()
        let browser = try browser("j<enter>o", Fixture.source(), programs)
        let run = try #require(programs.last)
        #expect(run.program == "pager less" && run.path.hasSuffix("/value.json"))
        #expect(String(decoding: run.content, as: UTF8.self).hasPrefix("{\n  \"geonameid\": 1642911,"))
        #expect(run.permissions == 0o600)
        #expect(!FileManager.default.fileExists(atPath: run.path))
        #expect(
            !FileManager.default.fileExists(
                atPath: URL(fileURLWithPath: run.path).deletingLastPathComponent().path))
        #expect(browser.model.screen == .entries && browser.model.cursorKey == "Jakarta")
    }

    /// A value of many windows arrives unchanged.
    @Test func pagerGetsLongValue() throws {
        let long = (0..<9_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }
        source.record("Jakarta", long, archive: "City", at: Fixture.start)
        let programs = Programs()
        _ = try browser("j<enter>o", source, programs)
        let run = try #require(programs.last)
        #expect(run.content == long)
        #expect(run.path.hasSuffix("/value.bin"))
    }

    @Test(arguments: [
        (Int32(127), "command not found"), (1, "ended with exit code 1"), (130, "signal 2"),
    ])
    func reportsFailedPager(status: Int32, words: String) throws {
        let browser = try browser("j<enter>o", Fixture.source(), Programs(status: status))
        #expect(browser.text.contains(words))
    }

    @Test func pipeRemembersCommands() throws {
        let programs = Programs()
        var browser = try browser("j<enter>j|jq .name<enter>", Fixture.source(), programs)
        #expect(programs.last?.program == "pipe to jq .name")
        let given = String(decoding: try #require(programs.last).content, as: UTF8.self)
        #expect(given.contains("Bandung"))
        try browser.press("|wc<enter>|<up><up><enter>")
        #expect(programs.last?.program == "pipe to jq .name" && programs.count == 3)
        // The entry is that of the cursor when the prompt opened.
        #expect(browser.model.cursorKey == "Bandung")
    }

    // MARK: A file

    @Test func writesFilesAndAsksToReplace() throws {
        let folder = EngineSourceTests.Folder()
        let file = URL(fileURLWithPath: folder.path + "/a.raw")
        var browser = try browser("j<enter>w<ctrl+u>\(file.path)<enter>", source, Programs())
        #expect(browser.text.contains("Wrote 197 B to"))
        #expect(try Array(Data(contentsOf: file)) == Fixture.json("Jakarta", 0))
        let named = URL(fileURLWithPath: folder.path + "/a.json")
        try browser.press("w<ctrl+u>\(named.path)<enter>")
        #expect(try String(contentsOf: named, encoding: .utf8).hasPrefix("{\n  \"geonameid\": 1642911"))

        try browser.press("jw<ctrl+u>\(file.path)<enter>", shows: "Replace the file?")
        try browser.press("<enter>", shows: "Nothing was written.")
        #expect(try Array(Data(contentsOf: file)) == Fixture.json("Jakarta", 0))
        try browser.press("w<ctrl+u>\(file.path)<enter><tab><enter>")
        #expect(try Array(Data(contentsOf: file)) == Fixture.json("Bandung", 1))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["a.json", "a.raw"])
        try browser.press("w<ctrl+u>\(folder.path)/none/a<enter>", shows: "its folder doesn't exist")
    }

    // MARK: The editor

    private static func replacing(_ old: String, with new: String) -> @Sendable ([UInt8]) -> [UInt8] {
        { Array(String(decoding: $0, as: UTF8.self).replacingOccurrences(of: old, with: new).utf8) }
    }

    @Test func storesConfirmedEdit() throws {
        let programs = Programs(edit: Self.replacing("\"Jakarta\"", with: "\"Batavia\""))
        var browser = try browser("j<enter><enter>e", source, programs)
        let text = browser.text
        #expect(programs.last?.program == "editor vi")
        #expect(text.contains("-   \"name\": \"Jakarta\"") && text.contains("+   \"name\": \"Batavia\""))
        #expect(text.contains("1 line removed, 1 added"))
        #expect(value("Jakarta", source) == String(decoding: Fixture.json("Jakarta", 0), as: UTF8.self))
        try browser.press("y")
        // It stays on one line.
        let expected = String(decoding: Fixture.json("Jakarta", 0), as: UTF8.self)
            .replacingOccurrences(of: "\"Jakarta\"", with: "\"Batavia\"")
        #expect(value("Jakarta", source) == expected)
        browser.expect(shows: "Stored Jakarta", "writes 1")
        #expect(!FileManager.default.fileExists(atPath: try #require(programs.last?.path)))
    }

    @Test func cancelKeepsText() throws {
        let programs = Programs(edit: Self.replacing("\"Jakarta\"", with: "\"Batavia\""))
        let browser = try browser("j<enter><enter>e<enter>", source, programs)
        #expect(value("Jakarta", source) == String(decoding: Fixture.json("Jakarta", 0), as: UTF8.self))
        let path = try #require(programs.last?.path)
        #expect(browser.text.contains("Nothing was stored."))
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("Batavia"))
        try programs.discardText()
    }

    @Test func unchangedTextStoresNothing() throws {
        let programs = Programs()
        let browser = try browser("j<enter><enter>e", source, programs)
        #expect(browser.text.contains("Nothing was changed."))
        #expect(source.with { $0.writeCalls } == 0)
        #expect(!FileManager.default.fileExists(atPath: try #require(programs.last?.path)))
    }

    /// A mistake is shown with its line; Enter returns to the editor, Esc keeps the text.
    @Test func invalidTextReturnsToEditor() throws {
        let programs = Programs(edit: { text in
            let text = String(decoding: text, as: UTF8.self)
            let isMended = text.contains("1642911,,")
            return Array(
                text.replacingOccurrences(
                    of: isMended ? "1642911,," : "1642911,", with: isMended ? "7," : "1642911,,"
                ).utf8)
        })
        var browser = try browser("j<enter><enter>e", source, programs)
        #expect(browser.text.contains("Line 2, column"))
        try browser.press("<enter>")
        #expect(programs.count == 2 && browser.text.contains("+   \"geonameid\": 7,"))
        try browser.press("<esc><enter>")
        try programs.discardText()
    }

    /// The other process's value and the edited text both stay.
    @Test func reportsConflict() throws {
        let programs = Programs(edit: { text in
            source.record("Jakarta", Array("{\"other\":1}".utf8), archive: "City", at: Fixture.start)
            source.happen(.update, "Jakarta", archive: "City", bytes: 11, at: Fixture.start)
            return Self.replacing("\"Jakarta\"", with: "\"Batavia\"")(text)
        })
        let browser = try browser("j<enter><enter>ey", source, programs)
        let text = browser.text
        #expect(value("Jakarta", source) == "{\"other\":1}")
        #expect(text.contains("changed after the edit began") && text.contains("vellum demo (4121)"))
        let path = try #require(programs.last?.path)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("Batavia"))
        try programs.discardText()
    }

    @Test func failedEditorStoresNothing() throws {
        let programs = Programs(status: 1, edit: Self.replacing("\"Jakarta\"", with: "\"Batavia\""))
        let browser = try browser("j<enter><enter>e", source, programs)
        browser.expect(shows: "The editor ended with exit code 1: vi", "Your text is kept in")
        #expect(source.with { $0.writeCalls } == 0)
        try programs.discardText()
    }

    /// Regression: the message named the removed file.
    @Test func reportsRemovedFile() throws {
        let browser = try Fixture.browser(
            source, keys: "j<enter><enter>e",
            programs: { program in
                try? FileManager.default.removeItem(atPath: program.arguments[0])
                return .success(0)
            })
        let text = browser.boxWords
        #expect(text.contains("The editor removed the file"), "\(browser.text)")
        #expect(!text.contains("kept in"))
        #expect(source.with { $0.writeCalls } == 0)
    }

    @Test func refusesToEditBytes() throws {
        let programs = Programs()
        let browser = try browser("<enter><enter>e", Fixture.source(), programs)
        #expect(browser.text.contains("It is neither JSON, CBOR nor text."))
        #expect(programs.count == 0)
    }

    @Test(arguments: ["j<enter><enter>e", "j<enter>n"])
    func readOnlyBrowserRefusesEdits(keys: String) throws {
        let programs = Programs()
        let browser = try browser(keys, Fixture.source(), programs, isReadOnly: true)
        #expect(browser.text.contains("this browser is read-only"))
        #expect(programs.count == 0)
    }

    @Test(
        "an edit shows long changed lines around their change, and equal lines in one row",
        arguments: [(80, 24), (40, 12), (120, 30)])
    func longLinesAreCut(size: (columns: Int, rows: Int)) throws {
        let filler = (0..<80).map { "filler\($0)" }.joined(separator: " ")
        source.record(
            "Oslo", Array("same \(filler)\nbegin \(filler) old value \(filler) end\n".utf8), archive: "City",
            at: Fixture.start)
        let programs = Programs(edit: { bytes in
            Array(String(decoding: bytes, as: UTF8.self).replacing("old value", with: "new words").utf8)
        })
        var browser = try Fixture.browser(
            source, columns: size.columns, rows: size.rows, keys: "j<enter>/Oslo<enter>ge",
            programs: { programs.run($0) })
        #expect(browser.boxLines.count { $0.contains("same filler0") } == 1, "\(browser.text)")
        var words = ""
        for _ in 0..<10 {
            words += browser.boxWords.replacing(" ", with: "")
            try browser.press("<down>")
        }
        #expect(words.contains("oldvalue") && words.contains("newwords"), "\(browser.text)")
        #expect(!words.contains("filler40") && !words.contains("begin"))
    }

    // MARK: New entries

    @Test func storesConfirmedNewEntry() throws {
        let programs = Programs(edit: { _ in Array("{\"name\": \"Oslo\"}\n".utf8) })
        var browser = try browser("j<enter>nOslo<enter>", source, programs)
        #expect(programs.last?.content == [])
        browser.expect(shows: "New entry Oslo?", "+ {\"name\": \"Oslo\"}")
        #expect(value("Oslo", source) == nil)
        try browser.press("y")
        #expect(source["Oslo"]?.bytes == [0xa1, 0x64] + Array("name".utf8) + [0x64] + Array("Oslo".utf8))
    }

    @Test func refusesExistingKey() throws {
        let programs = Programs(edit: { _ in
            source.record("Oslo", [1], archive: "City", at: Fixture.start)
            return Array("text".utf8)
        })
        let there = try browser("j<enter>nJakarta<enter>", source, programs)
        #expect(there.text.contains("The key is in use.") && programs.count == 0)
        let late = try browser("j<enter>nOslo<enter>y", source, programs)
        #expect(late.text.contains("the key \"Oslo\" is in use now"))
        #expect(source["Oslo"]?.bytes == [1])
        try programs.discardText()
    }

    @Test func emptyTextStoresNothing() throws {
        let browser = try browser("j<enter>nOslo<enter>", source, Programs())
        #expect(browser.text.contains("Nothing was written."))
        #expect(value("Oslo", source) == nil)
    }
}
