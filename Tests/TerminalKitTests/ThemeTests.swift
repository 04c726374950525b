import Foundation
import TerminalKit
import Testing

@Suite struct ThemeTests {
    @Test func colorsAreReducedToTheNearest() {
        #expect(Color.rgb(255, 0, 0).reduced(to: .indexed256) == .indexed(196))
        #expect(Color.rgb(250, 250, 250).reduced(to: .sixteen) == .indexed(15))
        #expect(Color.rgb(128, 128, 128).reduced(to: .indexed256) == .indexed(244))
        #expect(Color.indexed(196).reduced(to: .sixteen) == .indexed(9))
        #expect(Color.indexed(3).reduced(to: .sixteen) == .indexed(3))
        #expect(Color.rgb(1, 2, 3).reduced(to: .trueColor) == .rgb(1, 2, 3))
        #expect(Color.rgb(1, 2, 3).reduced(to: .mono) == .standard)
        #expect(Color.standard.reduced(to: .sixteen) == .standard)
    }

    @Test(arguments: Theme.Name.allCases, ColorDepth.allCases)
    func stylesFitTheirDepth(_ name: Theme.Name, _ depth: ColorDepth) {
        let theme = Theme(name, depth: depth)
        for role in Role.allCases { #expect(theme[role].reduced(to: theme.depth) == theme[role], "\(role)") }
    }

    /// The relative luminance of WCAG 2.1, <https://www.w3.org/TR/WCAG21/#dfn-relative-luminance>.
    private func luminance(_ color: Color, or standard: Double) -> Double {
        let parts: (red: UInt8, green: UInt8, blue: UInt8)
        switch color {
        case .standard: return standard
        case .indexed(let index): parts = Color.paletteComponents(index)
        case .rgb(let red, let green, let blue): parts = (red, green, blue)
        }
        func linear(_ part: UInt8) -> Double {
            let value = Double(part) / 255
            return value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(parts.red) + 0.7152 * linear(parts.green) + 0.0722 * linear(parts.blue)
    }

    /// The contrast of WCAG 2.1 between a style's colors; `front` and `back` are the luminances of the terminal's own colors.
    private func contrast(_ style: Style, front: Double, back: Double) -> Double {
        let front = luminance(style.foreground, or: front)
        let back = luminance(style.background, or: back)
        return (max(front, back) + 0.05) / (min(front, back) + 0.05)
    }

    /// Roles without text.
    private let decorations: Set<Role> = [
        .border, .dialogBorder, .gaugeEmpty, .gaugeFill, .scrollTrack, .scrollThumb,
    ]

    private func style(_ role: Role, _ theme: Theme) -> Style {
        [.titleDim, .titleGood, .titleWarning].contains(role) ? theme[role].over(theme[.title]) : theme[role]
    }

    @Test(arguments: [Theme.Name.dark, .light, .darkSafe, .lightSafe], [ColorDepth.trueColor, .indexed256])
    func textIsReadable(_ name: Theme.Name, _ depth: ColorDepth) {
        let theme = Theme(name, depth: depth)
        let isDark = name == .dark || name == .darkSafe
        for role in Role.allCases where !decorations.contains(role) {
            let contrast = contrast(style(role, theme), front: isDark ? 0.8 : 0, back: isDark ? 0.01 : 0.95)
            #expect(contrast >= 4.3, "\(role): \(contrast)")
        }
    }

    /// Regression: the default theme had yellow and light blue text on the white of a light terminal.
    @Test(arguments: [Theme.Name.dark, .darkSafe], [ColorDepth.trueColor, .indexed256])
    func darkThemesAreReadableOnWhite(_ name: Theme.Name, _ depth: ColorDepth) {
        let theme = Theme(name, depth: depth)
        for role in Role.allCases where !decorations.contains(role) {
            let contrast = contrast(style(role, theme), front: 0, back: 1)
            // WCAG requires 3 for large text.
            #expect(contrast >= 2.9, "\(role): \(contrast)")
        }
    }

    /// Terminals of eight colors draw a bright color as the plain one.
    @Test(arguments: [Theme.Name.dark, .light, .darkSafe, .lightSafe])
    func textDiffersFromItsBackground(_ name: Theme.Name) {
        let theme = Theme(name, depth: .sixteen)
        func plain(_ color: Color) -> UInt8? {
            if case .indexed(let index) = color { index & 7 } else { nil }
        }
        let grounds: [(Role, [Role])] = [
            (.title, [.title, .titleDim, .titleGood, .titleWarning]), (.dialog, [.dialog, .dialogBorder]),
        ]
        for (ground, roles) in grounds {
            for role in roles {
                let style = theme[role].over(theme[ground])
                #expect(plain(style.foreground) != plain(style.background), "\(role) on \(ground)")
            }
        }
    }

    @Test(arguments: Theme.Name.allCases, ColorDepth.allCases)
    func oppositeRolesDiffer(_ name: Theme.Name, _ depth: ColorDepth) {
        let theme = Theme(name, depth: depth)
        let pairs: [(Role, Role)] = [
            (.selected, .text), (.selectedInactive, .text), (.selected, .selectedInactive), (.marked, .text),
            (.good, .danger), (.new, .disappearing), (.error, .text), (.buttonDefault, .button),
            (.match, .text),
            (.badge, .title), (.header, .text),
        ]
        for (left, right) in pairs where !(name == .mono || depth == .mono) || left != .badge {
            #expect(theme[left] != theme[right], "\(left) and \(right)")
        }
    }

    @Test func glyphsTakeOneColumn() {
        for (glyphs, isASCII) in [(Glyphs.unicode, false), (.ascii, true)] {
            for child in Mirror(reflecting: glyphs).children {
                let characters =
                    (child.value as? [Character]) ?? (child.value as? Character).map { [$0] }
                    ?? Array(child.value as? String ?? "")
                #expect(!characters.isEmpty, "\(child.label ?? "")")
                for character in characters {
                    #expect(TextWidth.width(of: character) == 1, "\(character)")
                    #expect(!isASCII || character.isASCII, "\(character)")
                }
            }
        }
    }
}
