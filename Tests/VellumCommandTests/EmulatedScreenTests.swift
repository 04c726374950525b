import Foundation
import TestSupport
import Testing

/// The program in a terminal emulator: the screen that its bytes produce.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Emulator.isInstalled, "these tests need tmux"))
struct EmulatedScreenTests {
    private static let hasScreen =
        (try? ChildProcess.run("/usr/bin/env", ["screen", "-v"]))?.text.contains("Screen") == true
    private let store: TestStore
    private var state: String { store.folder / "state" }
    private var environment: [String: String] { Vellum.environment(["XDG_STATE_HOME": state]) }

    init() throws {
        store = TestStore()
        for key in ["oslo", "東京", "क्षि", "😀", "e/1", "e/2", "f/1"] {
            try store.done("put", "City", key, input: "{\"name\":\"\(key)\",\"size\":709037}")
        }
        try store.done("append", "Log", "hello-log", "--disk", "1MB")
        // Prevents the line of hints, which appears on terminals only.
        let folder = state + "/vellum"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: folder + "/hints"))
    }

    private func emulator(_ type: String = "tmux-256color", below: String = "") throws -> Emulator {
        // The variables of tmux would change how copies are sent. Other tests check colors.
        try Emulator(
            "\(below) '\(Vellum.executable.path)' --store '\(store.path)'", columns: 120, rows: 35,
            type: type,
            environment: environment)
    }

    /// Masks ages and rates, which depend on how long the browser has run. Columns stay in place, except behind rates.
    private static func timeless(_ row: some StringProtocol) -> String {
        func blank(_ text: some StringProtocol) -> String { String(repeating: " ", count: text.count) }
        let row = String(row)
            .replacing(/[▁▂▃▄▅▆▇█]/, with: " ")
            .replacing(/\ *[0-9]+[smh]\b/) { blank($0.0.dropLast()) + "T" }
            .replacing(/(?<before>\ )[0-](?=\ |$|,)/) { "\($0.before)-" }
            // Times below graphs move with their values.
            .replacing(/[└+][0-9]{2}:[0-9:]+/) { blank($0.0) }
            .replacing(/│[0-9:]+\ *│$/) { "│" + blank($0.0.dropFirst(2)) + "│" }
            .replacing(/hit, last <?\ *T/, with: "hit, last T")
            .replacing(/\ *hit <?\ *T.*|\ *(?:operations|evictions) (?:-|[0-9.]+\/s)\ .*/, with: " -")
        return String(row.reversed().drop { $0 == " " }.reversed())
    }

    /// Waits until the screen equals the printed one for the same keys.
    private func expect(
        _ emulator: Emulator, shows keys: String, location: SourceLocation = #_sourceLocation
    ) throws {
        func printed() throws -> [String] {
            let arguments = ["browse", "--store", store.path, "--print", "text", "--size", "120x35"]
            let result = try Vellum.run(arguments + ["--keys", keys], environment: environment)
            return result.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .map(Self.timeless)
        }
        let deadline = ContinuousClock.now.advanced(by: .seconds(60))
        while true {
            // Printed again each time, as growing ages shift the columns.
            let wanted = try printed()
            var shown: [String] = []
            let isSame = holds(within: 1) {
                shown = ((try? emulator.lines()) ?? []).map(Self.timeless)
                return shown == wanted
            }
            if isSame { return }
            guard ContinuousClock.now > deadline else { continue }
            let differences = zip(shown, wanted).filter { $0 != $1 }.map { "\n\($0)\n\($1)" }
            Issue.record("\(keys): \(shown.count) rows\(differences.joined())", sourceLocation: location)
            return
        }
    }

    /// No row of a previous screen is left or shifted, and the shell's screen is restored.
    @Test(arguments: ["tmux-256color", "vt100"])
    func terminalShowsPrintedScreen(_ type: String) throws {
        let emulator = try emulator(type)
        try expect(emulator, shows: "")
        let region = try emulator.scrollRegion()
        var keys = ""
        let steps = [
            ("Enter", "<enter>"), ("Enter", "<enter>"), ("t", "t"), ("h", "h"), ("z", "z"), ("h", "h"),
            ("Q", "Q"), ("Escape", "<esc>"), ("h", "h"), ("E", "E"), ("Tab", "<tab>"), ("h", "h"), ("?", "?"),
            ("Escape", "<esc>"), ("j", "j"), ("Enter", "<enter>"), ("h", "h"),
        ]
        for (pressed, spelled) in steps {
            try emulator.press(pressed)
            keys += spelled
            try expect(emulator, shows: keys)
        }
        // The graphs' figures and the stores' times aren't printed, so they can't be compared.
        try emulator.press("T")
        try emulator.shows("› graphs", "hit ratio", "operations", "q Back")
        #expect(try !emulator.lines().contains { $0.contains("file size") || $0.contains("appended") })
        #expect(try emulator.lines().count == 35)
        try emulator.press("h")
        try emulator.shows("file size")
        try emulator.press("h")
        try emulator.shows("› stores", "1 store in", "f Favorite")
        #expect(try !emulator.lines().contains { $0.contains("┌") || $0.contains("file size") })
        #expect(try emulator.lines().last?.hasPrefix("? Help  enter Open  / Filter") == true)
        try emulator.press("q")
        try emulator.shows("ended 0")
        #expect(try emulator.scrollRegion() == region && region == "0 34")
        #expect(try emulator.showsCursor())
        guard type != "vt100" else { return }
        // A VT100 has no alternate screen.
        let left = try emulator.lines().filter { !$0.isEmpty }
        #expect(left == ["before", "ended 0"])
    }

    /// GNU screen redraws its input for the outer terminal.
    @Test(.enabled(if: hasScreen, "this test needs GNU screen"))
    func worksInGNUScreen() throws {
        let emulator = try emulatorInScreen()
        try expect(emulator, shows: "")
        var keys = ""
        for (pressed, spelled) in [("Enter", "<enter>"), ("Enter", "<enter>"), ("h", "h"), ("?", "?")] {
            try emulator.press(pressed)
            keys += spelled
            try expect(emulator, shows: keys)
        }
        try emulator.press("C-c")
        try emulator.shows("ended 0")
        #expect(try !emulator.lines().contains { $0.contains("vellum ›") })
        #expect(try emulator.showsCursor())
    }

    private func emulatorInScreen() throws -> Emulator {
        let sockets = store.folder / "screens"
        try FileManager.default.createDirectory(
            atPath: sockets, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return try emulator(below: "SCREENDIR='\(sockets)' screen -c /dev/null -U -q")
    }

    /// While mouse reports are on, GNU screen holds Escape back until the next key, and sends both as one key with Alt.
    @Test(.enabled(if: hasScreen, "this test needs GNU screen"))
    func escapeWorksInGNUScreen() throws {
        let emulator = try emulatorInScreen()
        try emulator.shows("2 archives")
        try emulator.press("?")
        try emulator.shows("type to search")
        try emulator.press("Escape")
        try emulator.wait("the archives without help") {
            try !emulator.lines().contains { $0.contains("type to search") }
        }
        try emulator.press("C-c")
        try emulator.shows("ended 0")
    }

    /// The contents of all files in a folder, and the modification times of files and folders.
    private func files(_ folder: String) throws -> [String: [AnyHashable]] {
        var all: [String: [AnyHashable]] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            let whole = folder + "/" + path
            let facts = try FileManager.default.attributesOfItem(atPath: whole)
            let bytes =
                facts[.type] as? FileAttributeType == .typeRegular
                ? try Data(contentsOf: URL(fileURLWithPath: whole)) : Data()
            all[path] = [bytes, facts[.modificationDate] as? Date]
        }
        return all
    }

    @Test("browsing without changes writes nothing, on any screen") func browsingChangesNoByte() throws {
        let other = store.folder / "other"
        #expect(try Vellum.run(["--store", other, "put", "Other", "key"], input: "1").status == 0)
        let before = (try files(store.path), try files(other))
        #expect(before.0.count > 3)
        let emulator = try emulator()
        // The step after an Escape waits for its effect: sent together they would be a key with Alt.
        let steps: [(shown: [String], gone: String, keys: [String])] = [
            (["2 archives", "Log "], "", ["Enter"]), (["7 entries", "f/1"], "", ["4"]),
            (["7 entries", "f/1"], "", ["Enter"]),
            (["709037", "tree text hex"], "", ["/", "size", "Enter"]),
            (["1 of 1"], "", ["t"]), (["\"name\":"], "", ["t"]), (["000000  a2"], "", ["h"]),
            (["7 entries"], "tree text hex", ["s", "r", "C"]), (["Columns ("], "", [" ", "Escape"]),
            (["7 entries", "name"], "Columns (", ["W", "size > 1", "Enter"]),
            (["where size > 1"], "", ["Escape"]), (["7 entries"], "where size", ["f"]),
            (["Count by"], "", ["size", "Enter"]), (["1 group by size"], "", ["h"]),
            (["7 entries"], "group by", ["z"]), (["prefixes up to \"/\""], "", ["t"]),
            (["a separator, owner or kind"], "", ["Down", "Enter"]),
            (["1 prefix up to \"|\""], "separator, owner", ["f"]), (["Count by"], "", ["size", "Enter"]),
            (["1 group by size"], "", ["h"]), (["7 entries"], "group by", ["Q", "limit 2", "Enter"]),
            (["2 rows"], "", ["a"]), (["refreshing every 1s"], "", ["h"]), (["7 entries"], "2 rows", ["E"]),
            (["recorded", "of City"], "", ["Tab"]), (["process has"], "", ["Tab"]),
            (["operations"], "", ["h"]),
            (["7 entries"], "operations", ["h"]), (["2 archives"], "", ["j", "Enter"]),
            (["hello-log", "1 message"], "", ["f", "hel", "Enter"]), (["find \"hel\": 1 of 1"], "", ["h"]),
            (["2 archives"], "", ["?"]), (["type to search"], "", ["Escape"]),
            (["2 archives"], "type to search", ["h"]), (["2 stores in"], "", ["k", "Enter"]),
            (["1 archive "], "", ["C-c"]), (["ended 0"], "", []),
        ]
        for step in steps {
            try emulator.wait("\(step)") {
                let screen = try emulator.lines().joined(separator: "\n")
                return step.shown.allSatisfy { screen.contains($0) }
                    && (step.gone.isEmpty || !screen.contains(step.gone))
            }
            for key in step.keys { try emulator.press(key) }
        }
        #expect(try files(store.path) == before.0)
        #expect(try files(other) == before.1)
    }

    /// The demo's writes must not use up the undo window.
    @Test func demoKeepsUndoWindow() throws {
        let path = store.folder / "demo"
        let emulator = try Emulator(
            "'\(Vellum.executable.path)' demo --rate 2000 --store '\(path)'", columns: 120, rows: 35,
            environment: environment)
        try emulator.shows("6 archives", "Country ")
        try emulator.press("j", "Enter")
        try emulator.shows("171 entries", "country:ZW")
        try emulator.press("M")
        try emulator.shows("171 marked")
        try emulator.press("D")
        try emulator.shows("Delete 171 entries?")
        try emulator.press("y")
        try emulator.shows("Deleted 171 entries", "0 entries")
        /// The number of evictions in the busiest archive.
        func evictions() throws -> Int {
            let list = try JSON.array(Vellum.run(["ls", "--json", "--store", path]).output)
            return try #require(list.first { $0["archive"] as? String == "City" }?["evictions"] as? Int)
        }
        let before = try evictions()
        #expect(try holds { try evictions() > before + 1000 }, "the load stopped")
        #expect(try Vellum.run(["keys", "Country", "--store", path]).lines.isEmpty)
        try emulator.press("u")
        try emulator.shows("esc Cancel", "enter Confirm")
        try emulator.press("y")
        try emulator.shows("171 entries", "country:ZW")
        #expect(try Vellum.run(["keys", "Country", "--store", path]).lines.count == 171)
        try emulator.press("C-c")
        try emulator.shows("ended 0")
    }
}
