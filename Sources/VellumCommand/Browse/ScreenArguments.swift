import ArgumentParser
import StoreInspection
import TerminalKit

/// A screen's size as `100x30`: columns and rows, 1 to 1,000 each.
struct ScreenSize: Sendable, Hashable, ExpressibleByArgument {
    let size: Size

    init?(argument: String) {
        guard let size = Size(spelled: argument) else { return nil }
        self.size = size
    }
}

/// Keys to press, as `jj<enter>/foo<esc>`.
struct KeyScript: Sendable, Hashable {
    let keys: [Key]

    init(spelled: String) throws { keys = try Key.script(spelled) }
}

enum ScreenFormat: String, CaseIterable, Sendable, ExpressibleByArgument {
    case text, ansi, svg

    static var depth: ColorDepth { SystemText.environment("NO_COLOR") != nil ? .mono : .trueColor }

    func print(_ frame: Frame, _ theme: Theme.Name) throws {
        var picture =
            switch self {
            case .text: frame.plainText
            case .ansi: frame.ansiText(depth: ScreenFormat.depth)
            case .svg: frame.svg(.page(of: theme))
            }
        if picture.last != "\n" { picture += "\n" }
        let output = OutputWriter()
        try output.write(picture)
        try output.flush()
    }
}

extension Theme.Name: ExpressibleByArgument {}
