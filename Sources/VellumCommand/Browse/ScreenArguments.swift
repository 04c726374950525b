import TerminalKit

/// A screen's size as `100x30`: columns and rows, 1 to 1,000 each.
extension Size: ExpressibleByArgument {
    package init?(argument: String) { self.init(spelled: argument) }
}

enum ScreenFormat: String, CaseIterable, Sendable, ExpressibleByArgument {
    case text, ansi, svg

    static var depth: ColorDepth { SystemText.environment("NO_COLOR") != nil ? .mono : .trueColor }

    func print(_ frame: Frame, _ theme: Theme.Name) throws {
        var picture =
            switch self {
            case .text: frame.plainText
            case .ansi: frame.ansiText(depth: ScreenFormat.depth)
            case .svg: frame.svg(theme: theme)
            }
        if picture.last != "\n" { picture += "\n" }
        try OutputWriter.print(picture)
    }
}

extension Theme.Name: ExpressibleByArgument {}
