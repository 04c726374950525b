import TestSupport
import Testing

/// Output as a real terminal emulator shows it.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Emulator.isInstalled, "these tests need tmux"))
struct EmulatorTests {
    /// The probe in a window of tmux, once it shows the size.
    private func emulator(
        text: String, columns: Int, rows: Int, type: String = "tmux-256color"
    ) throws -> Emulator {
        let emulator = try Emulator(
            "\(ProbeProcess.probe) '\(text)' 2>/dev/null", columns: columns, rows: rows, type: type)
        try emulator.shows("size: \(columns)x\(rows)")
        return emulator
    }

    private func showWidgets(_ emulator: Emulator) throws {
        try emulator.press("g")
        try emulator.shows("sorting by size")
    }

    @Test func clustersTakeTheirColumns() throws {
        let clusters = ["漢字", "e\u{301}", "한글", "😀", "👩‍🚀", "❤\u{fe0f}", "ก็", "─", "ﾊ", "か\u{3099}", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]
        let shown = ["漢字", "e\u{301}", "한글", "😀", "👩🚀", "❤ ", "ก็", "─", "ﾊ", "か\u{3099}", "🏴gbeng"]
        let emulator = try self.emulator(text: clusters.joined(separator: "|") + "|", columns: 60, rows: 6)
        let expected = "text: " + shown.joined(separator: "|") + "|"
        let line = try emulator.lines()[0]
        // Scalars, because equal strings may be composed differently.
        #expect(line.unicodeScalars.elementsEqual(expected.unicodeScalars), "\(line.debugDescription)")
    }

    @Test func screenShowsFrameAfterChanges() throws {
        let emulator = try self.emulator(text: "東京", columns: 60, rows: 14)
        try showWidgets(emulator)
        let widgets = try emulator.lines()
        #expect(widgets.count == 14)
        #expect(widgets[2].hasPrefix("city/20/東京"))
        #expect(widgets[13] == "enter open  / filter  d delete  ? help  q quit")
        for _ in 0..<3 {
            try emulator.press("g")
            try emulator.shows("text: 東京")
            #expect(try emulator.lines().filter { !$0.isEmpty }.count == 3)
            try emulator.press("g")
            try emulator.shows("sorting by size")
        }
        #expect(try emulator.lines() == widgets)
    }

    @Test func resizeFillsTheScreen() throws {
        let emulator = try self.emulator(text: "x", columns: 60, rows: 14)
        try showWidgets(emulator)
        try emulator.tmux("resize-window", "-t", "0", "-x", "90", "-y", "20")
        try emulator.wait("the footer at the bottom") {
            try emulator.lines().last?.hasPrefix("enter open") == true && emulator.lines().count == 20
        }
        #expect(try emulator.lines()[0].contains("READ ONLY"))
    }

    /// Regression: the scroll region was set to the 24 rows of the terminfo entry and kept for the shell; on a VT100, whose
    /// cursor moves down by line feeds, rows of two screens were mixed.
    @Test(arguments: ["tmux-256color", "vt100"])
    func wholeScreenScrolls(_ type: String) throws {
        let emulator = try self.emulator(text: "x", columns: 60, rows: 35, type: type)
        #expect(try emulator.scrollRegion() == "0 34")
        try showWidgets(emulator)
        #expect(try emulator.lines().last?.hasPrefix("enter open") == true)
        #expect(try !emulator.lines().contains { $0.contains("size: 60x35") })
        try emulator.press("q")
        try emulator.shows("ended 0")
        #expect(try emulator.scrollRegion() == "0 34")
    }

    @Test func restoresNormalScreen() throws {
        let emulator = try self.emulator(text: "x", columns: 60, rows: 14)
        try emulator.press("q")
        try emulator.shows("ended 0")
        let lines = try emulator.lines()
        #expect(lines.first == "before")
        #expect(!lines.contains { $0.contains("size:") })
    }
}
