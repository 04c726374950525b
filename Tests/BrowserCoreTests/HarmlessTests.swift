import TestSupport
import BrowserCore
import TerminalKit
import Testing

/// Only the confirmation of a plan writes.
struct HarmlessTests {
    private let source = Fixture.source()

    @Test(arguments: 0..<24 as Range<UInt64>)
    func randomKeysWriteNothing(seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed)
        Fixture.addEvents(source)
        Fixture.addMessages(source)
        Fixture.addUndoable(source)
        let before = source.with { state in state.archives.mapValues { $0.map(\.entry) } }
        let clock = TestClock()
        var browser = try Fixture.browser(source, columns: 70, rows: 20, clock: clock)
        // Keys of every action except quitting, and text for prompts.
        let keys =
            ActionTable.keyMap().actions.filter { $0.id != .quit && $0.id != .demo }.flatMap(\.keys)
            + "abcdeFG 東é".map { .character($0) } + [Key(.enter), Key(.escape), Key(.backspace), Key(.tab)]
        // Keys that don't confirm a plan. Its default is Cancel, but that of an undo, which has no targets, isn't.
        let harmlessInPlan = [Key(.escape), .character("n"), .character("j"), Key(.up), .character("D")]
        for step in 0..<400 {
            let hasTargets = browser.model.planned?.isEmpty == false
            let choice =
                browser.model.isPlanOpen ? harmlessInPlan + (hasTargets ? [Key(.enter)] : []) : keys
            if let key = choice.randomElement(using: &numbers) { browser.press([key]) }
            clock.advance(0.3)
            if step % 3 == 0 { browser.refresh() }
            guard browser.exit == nil else { break }
        }
        #expect(source.with { $0.writeCalls } == 0, "seed \(seed)")
        #expect(
            source.with { state in state.archives.mapValues { $0.map(\.entry) } } == before, "seed \(seed)")
        #expect(browser.frame.size == Size(columns: 70, rows: 20))
    }

    @Test func readOnlyBrowserHasNoDelete() throws {
        let browser = try Fixture.browser(source, isReadOnly: true, keys: "j<enter>mmD<delete>y<tab><enter>")
        #expect(source.with { $0.deleteCalls } == 0)
        #expect(browser.model.planned == nil)
        #expect(browser.text.contains("READ ONLY"))
        let help = try Fixture.browser(source, rows: 60, isReadOnly: true, keys: "j<enter>?").text
        #expect(!help.contains("Delete"))
        #expect(help.contains("Mark"))
    }
}
