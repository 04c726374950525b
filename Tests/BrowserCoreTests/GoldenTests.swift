import BrowserCore
import Foundation
import TerminalKit
import Testing

/// Every scene on four screens, in Unicode and in ASCII, as text files in `Golden`. `VELLUM_RENEW_GOLDEN=1 swift test --filter
/// GoldenTests` rewrites them.
struct GoldenTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Golden")
    private static let renews = ProcessInfo.processInfo.environment["VELLUM_RENEW_GOLDEN"] == "1"

    @Test(arguments: [(20, 5), (40, 10), (80, 24), (200, 60)], ["unicode", "ascii"])
    func scenes(size: (columns: Int, rows: Int), look: String) throws {
        var text = ""
        for scene in Scene.all where !scene.isTimed || size.columns >= 80 {
            let browser = try scene.browser(
                columns: size.columns, rows: size.rows,
                look: look == "ascii" ? Fixture.ascii : Fixture.unicode)
            let screen = browser.text
            text += "=== \(scene.name) ===\n" + (scene.isTimed ? Scene.withoutTimes(screen) : screen)
        }
        try compare(text, with: "\(size.columns)x\(size.rows)-\(look).txt")
    }

    /// Colors and attributes, as terminal sequences.
    @Test(arguments: [
        (Theme.Name.dark, ColorDepth.trueColor), (.dark, .indexed256), (.dark, .sixteen), (.dark, .mono),
        (.light, .trueColor),
    ])
    func colors(theme: Theme.Name, depth: ColorDepth) throws {
        var text = ""
        for scene in Scene.all
        where [
            "archives", "sorted by size, marked", "filter", "plan", "events", "expire", "messages",
            "one graph, alarm", "found in a tree", "found in a text", "several stores", "advice",
        ].contains(scene.name) {
            let browser = try scene.browser(
                columns: 80, rows: 24, look: Look(theme: Theme(theme, depth: depth)))
            let frame = browser.frame.ansiText(depth: depth)
            text += "=== \(scene.name) ===\n" + frame.replacingOccurrences(of: "\u{1b}", with: "ESC") + "\n"
        }
        let name = theme == .dark ? "\(depth)" : "\(theme)-\(depth)"
        try compare(text, with: "80x24-color-\(name).txt")
    }

    private func compare(_ text: String, with name: String) throws {
        let file = Self.folder.appendingPathComponent(name)
        if Self.renews {
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let expected = try String(contentsOf: file, encoding: .utf8)
        guard text != expected else { return }
        let lines = text.components(separatedBy: "\n")
        let golden = expected.components(separatedBy: "\n")
        let index =
            zip(lines, golden).enumerated().first { $1.0 != $1.1 }?.offset ?? min(lines.count, golden.count)
        Issue.record(
            """
            \(name) differs from line \(index + 1) on:
              expected \(golden.indices.contains(index) ? golden[index] : "the end")
              found    \(lines.indices.contains(index) ? lines[index] : "the end")
            """)
    }
}
