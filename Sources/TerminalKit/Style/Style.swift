package struct Style: Sendable, Hashable {
    package var foreground: Color
    package var background: Color
    package var attributes: Attributes

    package init(foreground: Color = .standard, background: Color = .standard, attributes: Attributes = []) {
        self.foreground = foreground
        self.background = background
        self.attributes = attributes
    }

    package static let plain = Style()

    package func adding(_ attributes: Attributes) -> Style {
        Style(
            foreground: foreground, background: background,
            attributes: self.attributes.union(attributes))
    }

    /// This style drawn over another one. Its default colors are replaced by the other's colors.
    package func over(_ base: Style) -> Style {
        Style(
            foreground: foreground == .standard ? base.foreground : foreground,
            background: background == .standard ? base.background : background,
            attributes: attributes.union(base.attributes))
    }

    package func reduced(to depth: ColorDepth) -> Style {
        Style(
            foreground: foreground.reduced(to: depth), background: background.reduced(to: depth),
            attributes: attributes)
    }
}

/// Attributes besides colors. Blinking is missing because it hides text.
package struct Attributes: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let bold = Attributes(rawValue: 1)
    package static let dim = Attributes(rawValue: 2)
    package static let italic = Attributes(rawValue: 4)
    package static let underline = Attributes(rawValue: 8)
    package static let reverse = Attributes(rawValue: 16)
    package static let strikethrough = Attributes(rawValue: 32)
}
