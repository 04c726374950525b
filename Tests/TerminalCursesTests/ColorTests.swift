import TerminalCurses
import TerminalKit
import Testing

@Suite struct ColorTests {
    @Test func translatesNumbersToColors() {
        var palette = DirectPalette()
        #expect(palette.number(of: 0x010203) == 16)
        #expect(palette.number(of: 0xfffefd) == 17)
        #expect(palette.number(of: 0x010203) == 16)
        let rest = "text 38;5;16m\u{1b}[3;5H\u{1b}[38;5;99m\u{1b}(B\u{1b}[m\u{1b}[3"
        let composed = "\u{1b}[1;38;5;16;48;5;17m" + rest
        let expected = "\u{1b}[1;38;2;1;2;3;48;2;255;254;253m" + rest
        #expect(String(decoding: palette.translated(Array(composed.utf8)), as: UTF8.self) == expected)
    }

    @Test func fullPaletteUsesNearestColor() {
        var palette = DirectPalette()
        for color in 0..<UInt32(240) { #expect(palette.number(of: color) == Int32(16 + color)) }
        #expect(palette.number(of: 0x000105) == 16 + 5)
        #expect(palette.number(of: 0xffffff) == 255)
    }

    /// Bold black (gray reduced to eight colors) is unreadable on black; bold white and yellow are unreadable on white.
    @Test func eightColorsAreReadable() {
        let onBoth: Set<Color> = [.standard, .indexed(1), .indexed(2), .indexed(5)]
        for index in UInt8(0)..<16 {
            let style = Style(foreground: .indexed(index)).readableInEightColors
            #expect(onBoth.contains(style.foreground), "\(index)")
        }
        #expect(Style(foreground: .indexed(8)).readableInEightColors == Style(attributes: .dim))
        let bar = Style(foreground: .indexed(15), background: .indexed(4)).readableInEightColors
        #expect(bar == Style(foreground: .indexed(7), background: .indexed(4), attributes: .bold))
        let placeholder = Style(foreground: .indexed(8), background: .indexed(7)).readableInEightColors
        #expect(placeholder == Style(foreground: .indexed(0), background: .indexed(7)))
        // Regression: a button's bold black on cyan was gray on cyan.
        let button = Style(foreground: .indexed(0), background: .indexed(6), attributes: .bold)
        #expect(button.readableInEightColors == Style(foreground: .indexed(0), background: .indexed(6)))
        #expect(Style.plain.readableInEightColors == .plain)
    }
}
