import TerminalKit

extension Style {
    /// The style for a terminal of eight colors with an unknown background. Bright colors would be bold there, and bold black
    /// unreadable, so only red, green and magenta are kept; others become the standard color, bold or dim.
    package var readableInEightColors: Style {
        guard case .indexed(let index) = foreground else { return self }
        var style = self
        let basic = Color.indexed(index % 8)
        let isBright = index >= 8
        switch (index % 8, background) {
        case (1, .standard), (2, .standard), (5, .standard):
            style.foreground = basic
            if isBright { style.attributes.insert(.bold) }
        case (0, .standard), (7, .standard):
            style.foreground = .standard
            style.attributes.insert(index == 15 ? .bold : .dim)
        case (_, .standard):
            style.foreground = .standard
            style.attributes.insert(.bold)
        case (0, _):
            style.foreground = basic
            style.attributes.remove(.bold)
        default:
            style.foreground = basic
            if isBright { style.attributes.insert(.bold) }
        }
        if case .indexed(let index) = background { style.background = .indexed(index % 8) }
        return style
    }
}
