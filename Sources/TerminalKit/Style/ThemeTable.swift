enum ThemeTable {
    private typealias Shade = ThemeLook.Shade

    /// The colors in which themes differ; ``look(of:in:)`` assigns them to roles.
    private struct Palette {
        let dim: Shade, title: Shade, titleText: Shade
        let titleDim = Shade(0xc3cbd9, 7), titleGood: Shade, titleWarning = Shade(0xf6cf7a, 11)
        let header: Shade, headerText: Shade
        let selection: Shade, selectionText: Shade, selectionInactive: Shade
        let mark: Shade, accent: Shade, good: Shade, warning: Shade, danger: Shade
        let border: Shade, empty: Shade, match: Shade, matchText: Shade
        let surface: Shade, surfaceText: Shade, onSignal: Shade
    }

    static func look(of role: Role, in name: Theme.Name) -> ThemeLook {
        let palette = palette(name)
        return switch role {
        case .text: ThemeLook()
        case .dim: ThemeLook(foreground: palette.dim, mono: .dim)
        case .title:
            ThemeLook(
                foreground: palette.titleText, background: palette.title, attributes: .bold,
                mono: [.bold, .reverse])
        case .titleDim: ThemeLook(foreground: palette.titleDim)
        case .titleGood: ThemeLook(foreground: palette.titleGood)
        case .titleWarning: ThemeLook(foreground: palette.titleWarning, mono: .bold)
        case .header:
            ThemeLook(
                foreground: palette.headerText, background: palette.header, attributes: .bold,
                mono: [.bold, .underline])
        case .selected:
            ThemeLook(
                foreground: palette.selectionText, background: palette.selection, mono: .reverse)
        case .selectedInactive:
            ThemeLook(
                foreground: palette.surfaceText, background: palette.selectionInactive, mono: .underline)
        case .marked: ThemeLook(foreground: palette.mark, attributes: .bold, mono: .bold)
        case .accent: ThemeLook(foreground: palette.accent, mono: .bold)
        case .good, .new: ThemeLook(foreground: palette.good, mono: role == .new ? .bold : [])
        case .warning, .changed: ThemeLook(foreground: palette.warning, mono: .bold)
        case .danger: ThemeLook(foreground: palette.danger, attributes: .bold, mono: [.bold, .underline])
        case .disappearing: ThemeLook(foreground: palette.danger, mono: [.dim, .strikethrough])
        case .border: ThemeLook(foreground: palette.border, mono: .dim)
        case .gaugeFill: ThemeLook(foreground: palette.accent)
        case .gaugeEmpty: ThemeLook(foreground: palette.empty, mono: .dim)
        case .match:
            ThemeLook(
                foreground: palette.matchText, background: palette.match, mono: [.bold, .underline])
        case .error: ThemeLook(foreground: palette.danger, attributes: .underline, mono: [.bold, .underline])
        case .badge:
            ThemeLook(
                foreground: palette.onSignal, background: palette.warning, attributes: .bold,
                mono: [.bold, .reverse])
        case .key: ThemeLook(foreground: palette.accent, attributes: .bold, mono: .bold)
        case .hint: ThemeLook(foreground: palette.dim)
        case .input: ThemeLook(foreground: palette.surfaceText, background: palette.surface, mono: .underline)
        case .placeholder:
            ThemeLook(foreground: palette.dim, background: palette.surface, mono: [.dim, .underline])
        case .dialog: ThemeLook(foreground: palette.surfaceText, background: palette.surface)
        case .dialogBorder: ThemeLook(foreground: Shade(palette.border.rgb, palette.surfaceText.basic))
        case .button: ThemeLook(foreground: palette.surfaceText, background: palette.selectionInactive)
        case .buttonDefault:
            ThemeLook(
                foreground: palette.selectionText, background: palette.selection, attributes: .bold,
                mono: [.bold, .reverse])
        case .scrollTrack: ThemeLook(foreground: palette.empty, mono: .dim)
        case .scrollThumb: ThemeLook(foreground: palette.border)
        }
    }

    private static func palette(_ name: Theme.Name) -> Palette {
        switch name {
        case .dark, .mono: dark
        case .light: light
        case .darkSafe: darkSafe
        case .lightSafe: lightSafe
        }
    }

    /// The colors for a dark or unknown background. They are readable on a light background, too.
    private static let dark = Palette(
        dim: Shade(0x8b93a0, 8), title: Shade(0x2b3245, 4), titleText: Shade(0xf2f4f8, 15),
        titleGood: Shade(0x9fdc82, 10),
        header: Shade(0x1f2430, 0), headerText: Shade(0xb9c2d0, 14), selection: Shade(0x2f5d9b, 6),
        selectionText: Shade(0xffffff, 0), selectionInactive: Shade(0x3a4254, 7), mark: Shade(0xaf8f4a, 11),
        accent: Shade(0x4a90f0, 14), good: Shade(0x2b9c2b, 10), warning: Shade(0xbf8700, 11),
        danger: Shade(0xf0605a, 9), border: Shade(0x7a8496, 7), empty: Shade(0x4a5263, 8),
        match: Shade(0xf2d560, 3), matchText: Shade(0x1b1f27, 0), surface: Shade(0x232938, 7),
        surfaceText: Shade(0xe6e9ef, 0), onSignal: Shade(0x1b1f27, 0))

    private static let light = Palette(
        dim: Shade(0x646b78, 8), title: Shade(0x2f4a75, 4), titleText: Shade(0xffffff, 15),
        titleGood: Shade(0x9fdc82, 10),
        header: Shade(0xe3e7ee, 7), headerText: Shade(0x333a47, 0), selection: Shade(0x1f5fb4, 4),
        selectionText: Shade(0xffffff, 15), selectionInactive: Shade(0xd3dae6, 7),
        mark: Shade(0x8a5a00, 5), accent: Shade(0x0a5bb5, 4), good: Shade(0x1f7a34, 2),
        warning: Shade(0x8c5800, 5), danger: Shade(0xb3261e, 1), border: Shade(0x7d8694, 8),
        empty: Shade(0xb9c0cb, 7), match: Shade(0xffe173, 3), matchText: Shade(0x1b1f27, 0),
        surface: Shade(0xeef1f6, 7), surfaceText: Shade(0x1b1f27, 0), onSignal: Shade(0xffffff, 15))

    private static let darkSafe = Palette(
        dim: Shade(0x8b93a0, 8), title: Shade(0x2b3245, 4), titleText: Shade(0xf2f4f8, 15),
        titleGood: Shade(0x7cc7f5, 14),
        header: Shade(0x1f2430, 0), headerText: Shade(0xb9c2d0, 14), selection: Shade(0x0072b2, 6),
        selectionText: Shade(0xffffff, 0), selectionInactive: Shade(0x3a4254, 7), mark: Shade(0x999900, 11),
        accent: Shade(0x3a94d0, 14), good: Shade(0x3a94d0, 12), warning: Shade(0xbf8700, 11),
        danger: Shade(0xdc6a14, 13), border: Shade(0x7a8496, 7), empty: Shade(0x4a5263, 8),
        match: Shade(0xf0e442, 3), matchText: Shade(0x1b1f27, 0), surface: Shade(0x232938, 7),
        surfaceText: Shade(0xe6e9ef, 0), onSignal: Shade(0x1b1f27, 0))

    private static let lightSafe = Palette(
        dim: Shade(0x646b78, 8), title: Shade(0x2f4a75, 4), titleText: Shade(0xffffff, 15),
        titleGood: Shade(0x7cc7f5, 14),
        header: Shade(0xe3e7ee, 7), headerText: Shade(0x333a47, 0), selection: Shade(0x0072b2, 4),
        selectionText: Shade(0xffffff, 15), selectionInactive: Shade(0xd3dae6, 7),
        mark: Shade(0x8c3f78, 5), accent: Shade(0x0067a1, 4), good: Shade(0x0067a1, 4),
        warning: Shade(0x8a6000, 3), danger: Shade(0xb34a00, 5), border: Shade(0x7d8694, 8),
        empty: Shade(0xb9c0cb, 7), match: Shade(0xf0e442, 3), matchText: Shade(0x1b1f27, 0),
        surface: Shade(0xeef1f6, 7), surfaceText: Shade(0x1b1f27, 0), onSignal: Shade(0xffffff, 15))
}
