/// How a cell is drawn: colors and attributes. A value; safe to share between threads.
public struct Style: Sendable, Hashable {
    public var foreground: Color
    public var background: Color
    public var attributes: Attributes

    public init(
        foreground: Color = .standard, background: Color = .standard, attributes: Attributes = []
    ) {
        self.foreground = foreground
        self.background = background
        self.attributes = attributes
    }

    /// The terminal's own colors, no attributes.
    public static let plain = Style()

    /// The same style with the attributes added.
    public func adding(_ attributes: Attributes) -> Style {
        Style(
            foreground: foreground, background: background,
            attributes: self.attributes.union(attributes))
    }

    /// This style drawn over another: what this one leaves at the terminal's default shows the other's.
    public func over(_ base: Style) -> Style {
        Style(
            foreground: foreground == .standard ? base.foreground : foreground,
            background: background == .standard ? base.background : background,
            attributes: attributes.union(base.attributes))
    }

    /// The nearest style that a terminal of this depth can show.
    public func reduced(to depth: ColorDepth) -> Style {
        Style(
            foreground: foreground.reduced(to: depth), background: background.reduced(to: depth),
            attributes: attributes)
    }
}

/// Attributes of a cell besides its colors. There is no blinking: it disturbs readers and hides text.
public struct Attributes: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let bold = Attributes(rawValue: 1)
    public static let dim = Attributes(rawValue: 2)
    public static let italic = Attributes(rawValue: 4)
    public static let underline = Attributes(rawValue: 8)
    public static let reverse = Attributes(rawValue: 16)
    public static let strikethrough = Attributes(rawValue: 32)
}
