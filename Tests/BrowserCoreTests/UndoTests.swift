import BrowserCore
import Foundation
import StorageEngine
import TerminalKit
import Testing

struct UndoTests {
    @Test func whatWasDeletedComesBack() throws {
        let source = Fixture.source()
        var browser = try Fixture.browser(source, keys: "j<enter>mmmDy")
        #expect(source.with { $0.archives["City"]?.count } == 13)
        browser.press([.character("u")])
        let plan = browser.frame.plainText
        #expect(plan.contains("Undo this?"))
        #expect(plan.contains("Restores 3 entries, 593 B, in City"))
        #expect(plan.contains("deleted 0s ago by this browser; can be undone for 10m, or"))
        browser.press([.character("y")])
        #expect(source.with { $0.archives["City"]?.count } == 16)
        #expect(browser.frame.plainText.contains("Restored 3 entries, 593 B."))
        #expect(browser.frame.plainText.contains("writes 6"))
    }

    /// What a plan says of undo is shown while it lasts, and its end is said.
    @Test func theTimeLeftIsCountedDown() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, columns: 110, clock: clock, keys: "j<enter>gmmDy")
        func status() -> String {
            String(browser.frame.plainText.split(separator: "\n", omittingEmptySubsequences: false)[22])
        }
        #expect(status().hasPrefix("Deleted 2 entries, 394 B; u undoes it."))
        #expect(status().hasSuffix("undo with u for 10m or 100 kB of writes"))
        clock.advance(30)
        source.with { $0.undoable["City"]?[0].action.bytesLeft = 61_400 }
        browser.refresh()
        #expect(
            status().hasPrefix("東京都") && status().hasSuffix("undo with u for 9m30s or 61.4 kB of writes"))
        browser.press([.character("h")])
        #expect(status().contains("undo with u"), "the archive is under the cursor")
        browser.press([.character("k")])
        #expect(!status().contains("undo with u"), "in another one u undoes something else")
        browser.press(try Key.script("jl"))
        source.with { $0.undoable["City"] = [] }
        browser.refresh()
        #expect(
            status().hasPrefix(
                "The delete of 2 entries in City can't be undone any more: the writes since then"))
        #expect(!status().contains("undo with u"))
    }

    @Test func theEndOfTheTimeIsSaid() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, columns: 80, clock: clock, keys: "j<enter>gDy")
        source.with { $0.undoable["City"] = [] }
        clock.advance(601)
        browser.refresh()
        #expect(browser.frame.plainText.contains("can't be undone any more: ten minutes have passed."))
    }

    /// What broke: while a large undo was under way it was said that it wasn't possible any more.
    @Test func whatIsBeingTakenBackIsNotOver() throws {
        let source = Fixture.source()
        var test = try UpdateTest(Fixture.model(columns: 100, rows: 24), source, keys: "j<enter>gDyu")
        let undo = test.press(.character("y"), source, settling: false)
        let undoable = source.with { $0.undoable["City"] }
        source.with { $0.undoable["City"] = [] }
        test.refresh(source, at: Fixture.start.adding(seconds: 1))
        #expect(test.model.said?.contains("any more") != true, "\(test.model.said ?? "")")
        source.with { $0.undoable["City"] = undoable }
        test.effects = undo
        test.settle(source)
        #expect(test.model.said?.contains("Restored 1 entry") == true, "\(test.model.said ?? "")")
    }

    @Test func whatWasUndoneIsNotCountedDown() throws {
        let clock = TestClock()
        var browser = try Fixture.browser(Fixture.source(), clock: clock, keys: "j<enter>gDyuy")
        clock.advance(30)
        browser.refresh()
        #expect(
            !browser.frame.plainText.contains("any more") && !browser.frame.plainText.contains("u undoes:"))
    }

    @Test func defaultIsCancel() throws {
        let source = Fixture.source()
        Fixture.addUndoable(source)
        let browser = try Fixture.browser(source, keys: "j<enter>u<enter>")
        #expect(source.with { $0.writeCalls } == 0)
        #expect(!browser.model.isPlanOpen)
    }

    @Test func keysRecordedAnewAreListed() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>mmDy")
        source.record("Bandung", Array("new".utf8), archive: "City", at: clock.now)
        browser.press(try Key.script("uy"))
        #expect(browser.frame.plainText.contains("Restored 1 entry, 197 B; 1 was skipped."))
        #expect(browser.frame.plainText.contains("\"Bandung\" was recorded, changed or evicted"))
    }

    /// What another process did is undone by the same key, and an older action is chosen from the list.
    @Test func oneIsChosen() throws {
        let source = Fixture.source()
        Fixture.addUndoable(source)
        var browser = try Fixture.browser(source, keys: "j<enter>U")
        let list = browser.frame.plainText
        #expect(list.contains("expired 1 entry, 190 B, 12s ago by this browser; 9m48s or 61.4 kB"))
        #expect(list.contains("deleted 1,204 entries, 241 kB, 2m10s ago by api (4133); 7m50s or"))
        browser.press(try Key.script("j<enter>"))
        #expect(browser.frame.plainText.contains("Restores 1,204 entries, 241 kB, in City"))
        browser.press(try Key.script("<tab><enter>"))
        #expect(source.with { $0.undoable["City"]?.map(\.action.id) } == [8, 5])
    }

    /// What broke: on a narrow screen it was cut off who did it, when, and how long it can be undone.
    @Test(arguments: [(40, 10), (30, 24), (80, 24)])
    func theListTellsAllOfIt(columns: Int, rows: Int) throws {
        let source = Fixture.source()
        Fixture.addUndoable(source)
        var browser = try Fixture.browser(source, columns: columns, rows: rows, keys: "j<enter>U")
        for words in [
            ["expired 1 entry", "12s ago by this browser", "9m48s", "61.4 kB of writes left"],
            ["deleted 1,204 entries", "2m10s ago by api (4133)", "7m50s", "12 kB of writes left"],
            ["expiry of 3 entries", "5m ago by an unknown process", "900 B of writes left"],
        ] {
            // What stands in the box, without its scroll bar.
            let text = browser.frame.plainText.split(separator: "\n").compactMap { line in
                let parts = line.split(separator: "│", omittingEmptySubsequences: false)
                return parts.count < 3 ? nil : parts[1].split { " █▴▾·".contains($0) }.joined(separator: " ")
            }.joined(separator: " ")
            for part in words { #expect(text.contains(part), "\(columns)x\(rows): \(part) in \(text)") }
            #expect(browser.frame.plainText.contains("enter Choose"), "the hints stay")
            browser.press([Key(.down)])
        }
    }

    /// What broke: the row that came back above the cursor was above the rows in view.
    @Test func whatComesBackOnTopIsSeen() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>gDy")
        clock.advance(2)
        browser.refresh()
        #expect(browser.model.cursorKey == "Bandung" && browser.model.cursorRow == 0)
        browser.press(try Key.script("uy"))
        for _ in 0..<3 {
            clock.advance(4)
            browser.refresh()
        }
        #expect(browser.model.cursorKey == "Bandung", "the cursor stays with its key")
        #expect(browser.model.cursorRow == 1 && browser.model.firstRow == 0)
    }

    /// Deadlines come back in parts, so that can be stopped as a plan can; what was removed comes back in one step.
    @Test(arguments: [(kind: ReversibleAction.Kind.deadline, isStoppable: true), (.delete, false)])
    func escapeStopsAnUndo(kind: ReversibleAction.Kind, isStoppable: Bool) throws {
        let source = Fixture.source()
        Fixture.addUndoable(source)
        source.with { $0.undoable["City"]?[0].action.kind = kind }
        var test = UpdateTest(Fixture.model(columns: 100, rows: 24))
        test.settle(source)
        test.press(.character("j"))
        test.press(.character("u"), expecting: ["load reversible of City for latest"])
        for answer in test.answers(to: test.effects[0], source) { test.send(answer) }
        test.press(.character("y"), expecting: ["undo 8 of City"])
        let undo = try #require(test.effects.first)
        test.press(Key(.escape), expecting: isStoppable ? ["stop"] : [])
        guard isStoppable else { return }
        for answer in test.answers(to: undo, source, isStopped: true) {
            test.send(answer, expecting: ["load figures of \(Fixture.storePath)"])
        }
        #expect(test.text.contains("Stopped: restored 1 entry, 190 B; u undoes the rest."))
    }

    /// An undo says how much of it is done, and whether it can be stopped.
    @Test(arguments: [
        (kind: ReversibleAction.Kind.deadline, end: ", Esc stops"), (.delete, ""), (.expire, ""),
    ])
    func aLongUndoSaysItsShare(kind: ReversibleAction.Kind, end: String) throws {
        let source = Fixture.source()
        Fixture.addUndoable(source)
        source.with { state in
            state.undoable["City"]?[0].action.kind = kind
            state.undoable["City"]?[0].action.entries = 1_204
        }
        var test = try UpdateTest(Fixture.model(columns: 100, rows: 24), source, keys: "ju")
        test.press(.character("y"), expecting: ["undo 8 of City"])
        let undo = try #require(test.effects.first)
        test.send(.clock(Fixture.start.adding(seconds: 1)))
        func status() -> String { Browser.frame(test.model).lines[22] }
        #expect(status().hasSuffix(" undoing 1,204\(end)"), "\(status())")
        test.send(.progress(ticket: undo.ticket ?? 0, 0.5))
        #expect(status().hasPrefix("50% undoing 602 of 1,204\(end) "), "\(status())")
        test.effects = [undo]
        test.settle(source)
        #expect(!test.text.contains("undoing"))
    }

    /// What broke: other work that began beside a change took its place, and Esc reached that instead.
    @Test func escapeReachesTheChangeBesideOtherWork() throws {
        let source = Fixture.source()
        Fixture.addUndoable(source)
        source.with { $0.undoable["City"]?[0].action.kind = .deadline }
        var test = UpdateTest(Fixture.model(columns: 100, rows: 24))
        test.settle(source)
        test.press(.character("j"))
        test.press(.character("u"), expecting: ["load reversible of City for latest"])
        for answer in test.answers(to: test.effects[0], source) { test.send(answer) }
        test.press(.character("y"), expecting: ["undo 8 of City"])
        test.press(.character("z"), expecting: ["group City below \"\""])
        test.press(Key(.escape), expecting: ["stop"])
        #expect(test.model.screen == .groups, "the groups are still being made")
    }

    @Test(arguments: ["u", "U"])
    func nothingToUndoIsSaid(key: Character) throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>")
        browser.press([.character(key)])
        #expect(browser.frame.plainText.contains("Nothing to undo in City:"))
    }

    @Test func itMayBeTooLate() throws {
        let source = Fixture.source()
        Fixture.addUndoable(source)
        var browser = try Fixture.browser(source, columns: 100, keys: "j<enter>u")
        source.with { $0.undoable = [:] }
        browser.press([.character("y")])
        #expect(
            browser.frame.plainText.contains(
                "Can't undo: already undone, older than ten minutes, or its space was reused."))
    }

    /// The undo begins on the list of archives too, with the archive under the cursor.
    @Test func fromTheArchives() throws {
        let source = Fixture.source()
        Fixture.addUndoable(source)
        let browser = try Fixture.browser(source, keys: "ju")
        #expect(browser.frame.plainText.contains("Restores 1 entry, "))
    }

    /// An answer that comes when something else is open must not take its place.
    @Test func aLateAnswerOpensNothing() {
        var test = UpdateTest(Fixture.model(columns: 80, rows: 24))
        let source = Fixture.source()
        Fixture.addUndoable(source)
        test.settle(source)
        test.press(.character("j"))
        test.press(.character("u"), expecting: ["load reversible of City for latest"])
        let answers = test.answers(to: test.effects[0], source)
        test.press(.character("?"))
        for answer in answers { test.send(answer) }
        #expect(!test.model.isPlanOpen)
        #expect(test.text.contains("Help: archives"))
    }

    @Test func readOnlyHasNeitherExpiryNorUndo() throws {
        let source = Fixture.source()
        Fixture.addUndoable(source)
        Fixture.addMessages(source)
        for keys in ["j<enter>x<enter>y", "j<enter>uy", "j<enter>U<enter>y", "jj<enter>Dy"] {
            let browser = try Fixture.browser(source, isReadOnly: true, keys: keys)
            #expect(!browser.model.isPlanOpen, "\(keys)")
            #expect(browser.frame.plainText.contains("READ ONLY"))
        }
        #expect(source.with { $0.writeCalls } == 0)
        let help = try Fixture.browser(source, rows: 60, isReadOnly: true, keys: "j<enter>?").frame.plainText
        #expect(!help.contains("Expire") && !help.contains("Undo"))
    }
}
