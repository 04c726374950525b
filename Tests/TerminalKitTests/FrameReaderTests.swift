import TestSupport
import TerminalKit
import Testing

@Suite struct FrameReaderTests {
    private static let texts = [
        "a", "Zürich", "東京 ✓", "👩‍👩‍👧 x", "e\u{301}e", "नमस्ते", "🇩🇪🇯🇵", "\u{1b}[2J", "─│┌", "\u{200d}", "  ",
        "a\u{301}\u{302}",
    ]
    private static let colors: [Color] = [
        .standard, .indexed(0), .indexed(7), .indexed(8), .indexed(15), .indexed(16), .indexed(255),
        .rgb(1, 2, 255),
    ]

    /// Draws random text.
    private func draw(on frame: inout Frame, _ random: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let style = Style(
                foreground: Self.colors.randomElement(using: &random)!,
                background: Self.colors.randomElement(using: &random)!,
                attributes: Attributes(rawValue: UInt8.random(in: 0..<64, using: &random)))
            let place = Point(
                column: Int.random(in: -3..<frame.size.columns, using: &random),
                row: Int.random(in: 0..<frame.size.rows, using: &random))
            frame.write(Self.texts.randomElement(using: &random)!, at: place, style: style)
        }
        frame.cursor = Bool.random(using: &random) ? nil : Point(column: 1, row: 2)
    }

    @Test func updatesReproduceFrames() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<200 {
            let size = Size(
                columns: Int.random(in: 2...20, using: &random), rows: Int.random(in: 3...6, using: &random))
            var reader = FrameReader(size: size)
            var frame = Frame(size: size)
            var shown: Frame?
            for _ in 0..<8 {
                draw(on: &frame, &random)
                try reader.read(frame.update(from: shown))
                shown = frame
                #expect(reader.frame == frame)
            }
        }
    }

    @Test func unchangedFrameNeedsNoUpdate() {
        let frame = Frame(size: Size(columns: 4, rows: 2))
        #expect(frame.update(from: frame) == "")
    }

    @Test(arguments: [
        "\u{1b}]52;c;aGk=\u{7}", "\u{1b}[?1049h", "\u{1b}[31m", "\u{1b}[0;5m", "\u{1b}[0;38;5m",
        "\u{1b}[0;38;5;256m", "\u{1b}[0;1H",
        "\u{1b}[99999;1H", "\u{1b}[;1H", "\u{1b}[1;2;3H", "\u{1b}", "\u{1b}[", "\u{1b}\u{301}[2J", "\u{1b}c",
        "\u{1b}[3J",
    ])
    func refusesUnknownSequences(sequence: String) {
        var reader = FrameReader(size: Size(columns: 10, rows: 3))
        #expect(throws: FrameReader.UnknownSequence.self) { try reader.read("text" + sequence + "more") }
    }

    @Test func clipsTextOutsideTheScreen() throws {
        var reader = FrameReader(size: Size(columns: 4, rows: 2))
        try reader.read("\u{1b}[9;9Hlost\u{1b}[2;3Habcd\u{1b}[1;1H\u{7}")
        let lines = reader.frame.plainText.split(separator: "\n").map(String.init)
        #expect(lines.count == 2 && lines[1] == "  ab" && !lines[0].unicodeScalars.contains("\u{7}"))
    }
}
