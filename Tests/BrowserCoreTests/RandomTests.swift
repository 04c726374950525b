import BrowserCore
import Foundation
import StorageEngine
import TerminalKit
import TestSupport
import Testing

/// Random input and changes by other processes: the browser continues, and frames stay well-formed. `VELLUM_SEEDS=1000` runs more
/// seeds.
struct RandomTests {
    private static let seeds = UInt64(ProcessInfo.processInfo.environment["VELLUM_SEEDS"] ?? "") ?? 8

    @Test(arguments: 0..<seeds)
    func framesStayWellFormed(seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed &+ 1_000)
        let source = Fixture.source()
        Fixture.addEvents(source)
        Fixture.addMessages(source)
        Fixture.addUndoable(source)
        let clock = TestClock()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var environment = Fixture.environment
        // Values may be written under any name, and edited texts kept.
        (environment.writingFolder, environment.temporaryFolder) = (folder.path, folder.path)
        let model = Fixture.model(store: seed % 2 == 0 ? nil : Fixture.storePath, environment: environment)
        var browser = HeadlessBrowser(
            model, source: source, clock: clock.function, programs: { _ in .success(0) })
        let keys = ActionTable.keyMap().actions.filter { $0.id != .quit && $0.id != .demo }.flatMap(\.keys)
        let typed =
            "abckzy019 東é\u{301}".map { Key.character($0) } + [Key(.enter), Key(.escape), Key(.backspace)]
        for step in 0..<300 {
            switch Int.random(in: 0..<20, using: &numbers) {
            case 0:
                let size = Size(
                    columns: .random(in: 1...140, using: &numbers), rows: .random(in: 1...50, using: &numbers)
                )
                browser.send(.input(.resize(size)))
            case 1, 2:
                let place = Point(
                    column: .random(in: -1...140, using: &numbers), row: .random(in: -1...50, using: &numbers)
                )
                let kind = MouseEvent.Kind.allCases.randomElement(using: &numbers) ?? .click
                browser.send(.input(.mouse(MouseEvent(kind: kind, at: place))))
            case 3: browser.send(.input(.paste("pasted\u{1b}[2J\n東")))
            case 4, 5: change(source, &numbers, at: clock.now)
            case 6:
                clock.advance(.random(in: 0...5, using: &numbers))
                browser.refresh()
            case 7, 8, 9:
                if let key = typed.randomElement(using: &numbers) { browser.press([key]) }
            default:
                if let key = keys.randomElement(using: &numbers) { browser.press([key]) }
            }
            try #require(browser.exit == nil || browser.exit == .quit || browser.exit == .startDemo)
            let frame = browser.frame
            let widest =
                frame.plainText.split(separator: "\n").map { TextWidth.width(of: String($0)) }.max() ?? 0
            #expect(widest <= frame.size.columns, "seed \(seed), step \(step)")
            // The pane always shows the value of the row under the cursor.
            #expect(browser.disagreement == nil, "seed \(seed), step \(step)")
            guard browser.exit == nil else { return }
        }
    }

    /// A random change by another process or the disk.
    private func change(_ source: MockSource, _ numbers: inout SeededGenerator, at now: Timestamp) {
        let key = Fixture.keys.randomElement(using: &numbers) ?? ""
        switch Int.random(in: 0..<13, using: &numbers) {
        case 10: source.happen(.eviction, key, archive: "City", cause: .limit, at: now)
        case 11: source.append("another", archive: "Trace", at: now)
        case 12: source.with { $0.messages["Trace"] = $0.messages["Trace"].map { Array($0.dropFirst(3)) } }
        case 0...3: source.access(key, archive: "City", at: now)
        case 4, 5: source.record(key, Array("{\"new\":[1,2]}".utf8), archive: "City", at: now)
        case 6: source.remove(key, archive: "City")
        case 7: source.with { $0.problem = $0.problem == nil ? "the store is unreachable" : nil }
        case 8: source.with { $0.listingProblem = $0.listingProblem == nil ? "the index is damaged" : nil }
        default: source.with { $0.valueProblems[key] = "the entry fails its checksum" }
        }
    }
}
