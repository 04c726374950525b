package struct Theme: Sendable, Equatable {
    package enum Name: String, Sendable, Hashable, CaseIterable {
        case dark, light
        /// Colors for all kinds of color blindness: the palette of M. Okabe and K. Ito, <https://jfly.uni-koeln.de/color/>.
        case darkSafe = "dark-safe"
        case lightSafe = "light-safe"
        case mono
    }

    package let name: Name
    package let depth: ColorDepth
    private let styles: [Role: Style]

    /// For 16 colors, each role has a separate style, because the nearest color to a soft background is often black.
    /// ``ColorDepth/mono`` has no colors.
    package init(_ name: Name, depth: ColorDepth) {
        self.name = name
        self.depth = name == .mono ? .mono : depth
        var styles: [Role: Style] = [:]
        for role in Role.allCases { styles[role] = ThemeTable.look(of: role, in: name).style(at: self.depth) }
        self.styles = styles
    }

    package subscript(role: Role) -> Style { styles[role] ?? .plain }
}

/// A theme's colors for one role, at full depth.
struct ThemeLook {
    /// A color as 0xRRGGBB and its substitute among 16.
    struct Shade {
        let rgb: UInt32
        let basic: UInt8
        init(_ rgb: UInt32, _ basic: UInt8) {
            self.rgb = rgb
            self.basic = basic
        }

        func color(at depth: ColorDepth) -> Color {
            switch depth {
            case .mono: .standard
            case .sixteen: .indexed(basic)
            case .indexed256, .trueColor:
                Color.rgb(UInt8(rgb >> 16 & 255), UInt8(rgb >> 8 & 255), UInt8(rgb & 255)).reduced(to: depth)
            }
        }
    }

    var foreground: Shade?
    var background: Shade?
    var attributes: Attributes = []
    /// The attributes that replace the colors at ``ColorDepth/mono``.
    var mono: Attributes = []

    func style(at depth: ColorDepth) -> Style {
        guard depth > .mono else { return Style(attributes: mono) }
        return Style(
            foreground: foreground?.color(at: depth) ?? .standard,
            background: background?.color(at: depth) ?? .standard, attributes: attributes)
    }
}
