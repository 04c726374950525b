import Foundation
import TerminalKit
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite struct RendererTests {
    private var frame: Frame {
        var frame = Frame(size: Size(columns: 12, rows: 3))
        frame.write("a<&>\"漢", at: .zero, style: Style(foreground: .rgb(1, 2, 3), attributes: .bold))
        frame.write(
            "x&\u{301}", at: Point(column: 0, row: 1),
            style: Style(background: .indexed(9), attributes: .reverse))
        return frame
    }

    @Test func plainTextHasEveryLine() {
        #expect(frame.plainText == "a<&>\"漢\nx&\u{301}\n\n")
        #expect((0..<3).map { frame.text(ofRow: $0).count } == [11, 12, 12])
    }

    @Test func ansiTextFollowsTheDepth() {
        #expect(
            frame.ansiText(depth: .trueColor)
                == "\u{1b}[0;1;38;2;1;2;3ma<&>\"漢\u{1b}[0m\n\u{1b}[0;7;101mx&\u{301}\u{1b}[0m\n\n")
        #expect(
            frame.ansiText(depth: .mono) == "\u{1b}[0;1ma<&>\"漢\u{1b}[0m\n\u{1b}[0;7mx&\u{301}\u{1b}[0m\n\n")
        #expect(frame.ansiText(depth: .indexed256).hasPrefix("\u{1b}[0;1;38;5;16ma"))
    }

    @Test func hostileTextSendsNoSequences() {
        var frame = Frame(size: Size(columns: 300, rows: 1))
        frame.write(hardPieces.joined(), at: .zero)
        let text = frame.ansiText(depth: .trueColor)
        #expect(!text.unicodeScalars.dropLast().contains { $0.properties.generalCategory == .control })
        #expect(text.unicodeScalars.last == "\n")
    }

    @Test func svgIsWellFormed() throws {
        final class Collector: NSObject, XMLParserDelegate {
            var text = ""
            func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
        }
        let svg = frame.svg()
        let parser = XMLParser(data: Data(svg.utf8))
        let collector = Collector()
        parser.delegate = collector
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(collector.text.contains("a<&>\""))
        #expect(collector.text.contains("漢"))
        #expect(svg.contains("fill=\"#010203\" font-weight=\"bold\""))
    }

    /// Glyphs of a font may be lower than the row.
    @Test func svgDrawsBlocksAsRectangles() {
        var frame = Frame(size: Size(columns: 3, rows: 1))
        frame.write("█▄│", at: Point(column: 0, row: 0), style: .plain, within: frame.bounds)
        let svg = frame.svg()
        #expect(!svg.contains("<text"))
        #expect(svg.contains("<rect x=\"0\" y=\"0\" width=\"8.4\" height=\"17\""))
        #expect(svg.contains("<rect x=\"8.4\" y=\"8.5\" width=\"8.4\" height=\"8.5\""))
        #expect(svg.contains("<rect x=\"20.5\" y=\"0\" width=\"1\" height=\"17\""))
    }

    @Test func svgMatchesGolden() throws {
        try expectGolden(frame.svg(), "frame.svg")
    }
}
