/// How a cell is drawn: colors and attributes. A value; safe to share between threads.
package struct Style: Sendable, Hashable {
    package var foreground: Color
    package var background: Color
    package var attributes: Attributes

    package init(
        foreground: Color = .standard, background: Color = .standard, attributes: Attributes = []
    ) {
        self.foreground = foreground
        self.background = background
        self.attributes = attributes
    }

    /// The terminal's own colors, no attributes.
    package static let plain = Style()

    package func adding(_ attributes: Attributes) -> Style {
        Style(
            foreground: foreground, background: background,
            attributes: self.attributes.union(attributes))
    }

    /// This style drawn over another: what this one leaves at the terminal's default shows the other's.
    package func over(_ base: Style) -> Style {
        Style(
            foreground: foreground == .standard ? base.foreground : foreground,
            background: background == .standard ? base.background : background,
            attributes: attributes.union(base.attributes))
    }

    /// The nearest style that a terminal of this depth can show.
    package func reduced(to depth: ColorDepth) -> Style {
        Style(
            foreground: foreground.reduced(to: depth), background: background.reduced(to: depth),
            attributes: attributes)
    }
}

/// Attributes of a cell besides its colors. There is no blinking: it disturbs readers and hides text.
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
