import BrowserCore
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
        #expect(plan.contains("3 entries come back to City, 593 B"))
        #expect(plan.contains("deleted 0s ago by this browser; 10m left to undo"))
        browser.press([.character("y")])
        #expect(source.with { $0.archives["City"]?.count } == 16)
        #expect(browser.frame.plainText.contains("3 entries restored, 593 B."))
        #expect(browser.frame.plainText.contains("writes 6"))
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
        #expect(browser.frame.plainText.contains("1 entry restored, 197 B, 1 skipped."))
        #expect(browser.frame.plainText.contains("- Bandung"))
    }

    /// What another process did is undone by the same key, and an older action is chosen from the list.
    @Test func oneIsChosen() throws {
        let source = Fixture.source()
        Fixture.addUndoable(source)
        var browser = try Fixture.browser(source, keys: "j<enter>U")
        let list = browser.frame.plainText
        #expect(list.contains("expired 1 entry, 190 B, 12s ago by this browser; 9m left to undo"))
        #expect(list.contains("deleted 1,204 entries, 241 kB, 2m ago by api (4133); 7m left to undo"))
        browser.press(try Key.script("j<enter>"))
        #expect(browser.frame.plainText.contains("1,204 entries come back to City, 241 kB"))
        browser.press(try Key.script("<tab><enter>"))
        #expect(source.with { $0.undoable["City"]?.map(\.action.id) } == [8, 5])
    }

    @Test(arguments: ["u", "U"])
    func nothingToUndoIsSaid(key: Character) throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>")
        browser.press([.character(key)])
        #expect(browser.frame.plainText.contains("There is nothing to undo in City."))
    }

    @Test func itMayBeTooLate() throws {
        let source = Fixture.source()
        Fixture.addUndoable(source)
        var browser = try Fixture.browser(source, columns: 100, keys: "j<enter>u")
        source.with { $0.undoable = [:] }
        browser.press([.character("y")])
        #expect(browser.frame.plainText.contains("can no longer be undone"))
    }

    /// The undo begins on the list of archives too, with the archive under the cursor.
    @Test func fromTheArchives() throws {
        let source = Fixture.source()
        Fixture.addUndoable(source)
        let browser = try Fixture.browser(source, keys: "ju")
        #expect(browser.frame.plainText.contains("1 entry comes back to City"))
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
