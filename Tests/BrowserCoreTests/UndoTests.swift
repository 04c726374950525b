import BrowserCore
import Foundation
import StorageEngine
import TerminalKit
import Testing

struct UndoTests {
    private let source = Fixture.source()
    private let clock = TestClock()

    @Test func restoresDeletedEntries() throws {
        var browser = try Fixture.browser(source, keys: "j<enter>mmmDy")
        #expect(source.with { $0.archives["City"]?.count } == 13)
        try browser.press(
            "u", shows: "Undo this?", "Restores 3 entries, 593 B, in City",
            "deleted 0s ago by this browser; can be undone for 10m, or")
        try browser.press("y")
        #expect(source.with { $0.archives["City"]?.count } == 16)
        browser.expect(shows: "Restored 3 entries, 593 B.", "writes 6")
    }

    /// The remaining time is shown, and its end reported.
    @Test func showsRemainingTime() throws {
        var browser = try Fixture.browser(source, columns: 110, clock: clock, keys: "j<enter>gmmDy")
        func status() -> String {
            String(browser.lines[22])
        }
        #expect(status().hasPrefix("Deleted 2 entries, 394 B; u undoes it."))
        #expect(status().hasSuffix("u: undo (10m or 100 kB of writes)"))
        clock.advance(30)
        source.with { $0.undoable["City"]?[0].action.bytesLeft = 61_400 }
        browser.refresh()
        #expect(status().hasPrefix("東京都") && status().hasSuffix("u: undo (9m30s or 61.4 kB of writes)"))
        try browser.press("h")
        #expect(status().contains("u: undo"), "not shown with the archive under the cursor")
        try browser.press("k")
        #expect(!status().contains("u: undo"), "shown with another archive under the cursor")
        try browser.press("jl")
        source.with { $0.undoable["City"] = [] }
        browser.refresh()
        #expect(
            status().hasPrefix(
                "Deletion of 2 entries in City can no longer be undone: the writes since then"))
        #expect(!status().contains("u: undo"))
    }

    @Test func reportsEndOfUndo() throws {
        var browser = try Fixture.browser(source, columns: 80, clock: clock, keys: "j<enter>gDy")
        source.with { $0.undoable["City"] = [] }
        clock.advance(601, refreshing: &browser)
        #expect(browser.text.contains("can no longer be undone: ten minutes have passed."))
    }

    /// Regression: during a long undo, its end was reported.
    @Test func runningUndoIsNotReportedAsExpired() throws {
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "j<enter>gDyu")
        let undo = test.press(.character("y"), source, settling: false)
        let undoable = source.with { $0.undoable["City"] }
        source.with { $0.undoable["City"] = [] }
        test.refresh(source, at: Fixture.start.adding(seconds: 1))
        #expect(test.model.said?.contains("no longer be undone") != true, "\(test.model.said ?? "")")
        source.with { $0.undoable["City"] = undoable }
        test.settle(undo, source)
        #expect(test.model.said?.contains("Restored 1 entry") == true, "\(test.model.said ?? "")")
    }

    @Test func undoneActionHasNoRemainingTime() throws {
        var browser = try Fixture.browser(Fixture.source(), clock: clock, keys: "j<enter>gDyuy")
        clock.advance(30, refreshing: &browser)
        #expect(!browser.text.contains("no longer be undone") && !browser.text.contains("u undoes:"))
    }

    @Test("enter undoes, because an undo deletes nothing")
    func undoIsDefault() throws {
        Fixture.addUndoable(source)
        let browser = try Fixture.browser(source, keys: "j<enter>u<enter>")
        #expect(source.with { $0.undoable["City"]?.map(\.action.id) } == [7, 5])
        #expect(!browser.model.isPlanOpen)
    }

    @Test(arguments: [("j<enter>gDyu", true), ("<enter>gDyu", false)])
    func undoPlanStatesTheLimitOfCachesOnly(keys: String, hasLimit: Bool) throws {
        let browser = try Fixture.browser(source, keys: keys)
        #expect(browser.text.contains("Undo this?"))
        #expect(browser.text.contains("within the limit") == hasLimit)
    }

    @Test("an undo without a restored entry is not titled Undone")
    func undoOfNothing() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>Dy")
        source.record("Jakarta", [1], archive: "City", at: clock.now)
        try browser.press("u<enter>", shows: "Nothing was undone", hides: "Undone")
    }

    @Test func listsKeysRecordedSince() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>mmDy")
        source.record("Bandung", Array("new".utf8), archive: "City", at: clock.now)
        try browser.press(
            "uy", shows: "Restored 1 entry, 197 B; 1 was skipped.",
            "\"Bandung\" was recorded, changed or evicted")
    }

    /// The same key undoes actions of other processes; the list offers older ones.
    @Test func undoesChosenAction() throws {
        Fixture.addUndoable(source)
        var browser = try Fixture.browser(source, keys: "j<enter>U")
        browser.expect(
            shows: "expired 1 entry, 190 B, 12s ago by this browser; 9m48s or 61.4 kB",
            "deleted 1,204 entries, 241 kB, 2m10s ago by api (4133); 7m50s or")
        try browser.press("j<enter>", shows: "Restores 1,204 entries, 241 kB, in City")
        try browser.press("<enter>")
        #expect(source.with { $0.undoable["City"]?.map(\.action.id) } == [8, 5])
    }

    /// Regression: a narrow screen cut off the process, the time and the remaining time.
    @Test(arguments: [(40, 10), (30, 24), (80, 24)])
    func listWrapsDetails(columns: Int, rows: Int) throws {
        Fixture.addUndoable(source)
        var browser = try Fixture.browser(source, columns: columns, rows: rows, keys: "j<enter>U")
        for words in [
            ["expired 1 entry", "12s ago by this browser", "9m48s", "61.4 kB of writes left"],
            ["deleted 1,204 entries", "2m10s ago by api (4133)", "7m50s", "12 kB of writes left"],
            ["expiry of 3 entries", "5m ago by an unknown process", "900 B of writes left"],
        ] {
            // The text in the box without its scroll bar.
            let text = browser.text.split(separator: "\n").compactMap { line in
                let parts = line.split(separator: "│", omittingEmptySubsequences: false)
                return parts.count < 3 ? nil : parts[1].split { " █▴▾·".contains($0) }.joined(separator: " ")
            }.joined(separator: " ")
            for part in words { #expect(text.contains(part), "\(columns)x\(rows): \(part) in \(text)") }
            #expect(browser.text.contains("enter Undo"), "the hints are hidden")
            try browser.press("<down>")
        }
    }

    /// Regression: a restored row above the cursor was above the visible rows.
    @Test func restoredTopRowIsVisible() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>gDy")
        clock.advance(2, refreshing: &browser)
        #expect(browser.model.cursorKey == "Bandung" && browser.model.cursorRow == 0)
        try browser.press("uy")
        for _ in 0..<3 { clock.advance(4, refreshing: &browser) }
        #expect(browser.model.cursorKey == "Bandung", "the cursor left its key")
        #expect(browser.model.cursorRow == 1 && browser.model.firstRow == 0)
    }

    /// Expiry times are restored in parts, which can be stopped; entries are restored in one step.
    @Test(arguments: [(kind: ReversibleAction.Kind.deadline, isStoppable: true), (.delete, false)])
    func escapeStopsUndo(kind: ReversibleAction.Kind, isStoppable: Bool) throws {
        Fixture.addUndoable(source)
        source.with { $0.undoable["City"]?[0].action.kind = kind }
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "ju")
        test.press(.character("y"), expecting: ["undo 8 of City"])
        let undo = try #require(test.effects.first)
        test.press(Key(.escape), expecting: isStoppable ? ["stop"] : [])
        guard isStoppable else { return }
        for answer in test.answers(to: undo, source, isStopped: true) {
            test.send(answer, expecting: ["load figures of \(Fixture.storePath)"])
        }
        #expect(test.text.contains("Stopped: restored 1 entry, 190 B; u undoes the rest."))
    }

    @Test(arguments: [
        (kind: ReversibleAction.Kind.deadline, end: ", esc stops"), (.delete, ""), (.expire, ""),
    ])
    func longUndoShowsProgress(kind: ReversibleAction.Kind, end: String) throws {
        Fixture.addUndoable(source)
        source.with { state in
            state.undoable["City"]?[0].action.kind = kind
            state.undoable["City"]?[0].action.entries = 1_204
        }
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "ju")
        let undo = try #require(test.press(.character("y"), source, settling: false).last)
        #expect(undo.description == "undo 8 of City")
        test.send(.clock(Fixture.start.adding(seconds: 1)))
        func status() -> String { Browser.frame(test.model).lines[22] }
        #expect(status().hasSuffix(" undoing 1,204\(end)"), "\(status())")
        test.send(.progress(ticket: undo.ticket ?? 0, 0.5))
        #expect(status().hasPrefix("50% undoing 602 of 1,204\(end) "), "\(status())")
        test.settle([undo], source)
        #expect(!test.text.contains("undoing"))
    }

    /// Regression: work begun during a change replaced it, and Esc stopped that work.
    @Test func escapeStopsChangeDuringOtherWork() throws {
        Fixture.addUndoable(source)
        source.with { $0.undoable["City"]?[0].action.kind = .deadline }
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "ju")
        test.press(.character("y"), expecting: ["undo 8 of City"])
        test.press(.character("z"), expecting: ["group City below \"\""])
        test.press(Key(.escape), expecting: ["stop"])
        #expect(test.model.screen == .groups, "the groups were stopped")
    }

    @Test(arguments: ["u", "U"])
    func reportsNothingToUndo(key: Character) throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>")
        browser.press([.character(key)])
        #expect(browser.text.contains("Nothing to undo in City:"))
    }

    @Test func reportsLateUndo() throws {
        Fixture.addUndoable(source)
        var browser = try Fixture.browser(source, columns: 100, keys: "j<enter>u")
        source.with { $0.undoable = [:] }
        try browser.press(
            "y", shows: "Can't undo: already undone, older than ten minutes, or its space was reused.")
    }

    /// A late response must not replace an open dialog.
    @Test func lateResponseOpensNothing() {
        var test = UpdateTest(Fixture.model())
        Fixture.addUndoable(source)
        test.settle(source)
        test.press(.character("j"))
        test.press(.character("u"), expecting: ["load undo records of City for latest"])
        let answers = test.answers(to: test.effects[0], source)
        test.press(.character("?"))
        for answer in answers { test.send(answer) }
        #expect(!test.model.isPlanOpen)
        #expect(test.text.contains("Help: archives"))
    }

    @Test func readOnlyBrowserHasNoExpiryOrUndo() throws {
        Fixture.addUndoable(source)
        Fixture.addMessages(source)
        for keys in ["j<enter>x<enter>y", "j<enter>uy", "j<enter>U<enter>y", "jj<enter>Dy"] {
            let browser = try Fixture.browser(source, isReadOnly: true, keys: keys)
            #expect(!browser.model.isPlanOpen, "\(keys)")
            #expect(browser.text.contains("READ ONLY"))
        }
        #expect(source.with { $0.writeCalls } == 0)
        let help = try Fixture.browser(source, rows: 60, isReadOnly: true, keys: "j<enter>?").text
        #expect(!help.contains("Expire") && !help.contains("Undo"))
    }
}
