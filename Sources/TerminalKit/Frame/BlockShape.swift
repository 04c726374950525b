/// A block or line character as rectangles, in shares of its cell. As text they would have gaps between rows.
struct BlockShape {
    struct Part {
        var x = 0.0
        var y = 0.0
        var width = 1.0
        var height = 1.0
    }

    var parts: [Part]
    /// Opacity, 0 to 1.
    var cover = 1.0

    /// The shape of a character; nil if it is drawn as text.
    init?(_ text: String) {
        guard let scalar = text.unicodeScalars.first, text.unicodeScalars.count == 1 else { return nil }
        switch scalar.value {
        case 0x2581...0x2588:
            // The lower eighths.
            let height = Double(scalar.value - 0x2580) / 8
            parts = [Part(y: 1 - height, height: height)]
        case 0x2589...0x258f:
            // The left eighths, from seven down to one.
            parts = [Part(width: Double(0x2590 - scalar.value) / 8)]
        case 0x2591...0x2593:
            parts = [Part()]
            cover = Double(scalar.value - 0x2590) / 4
        default:
            guard let arms = BlockShape.arms[scalar] else { return nil }
            parts = []
            if arms.contains(.left) || arms.contains(.right) {
                let start = arms.contains(.left) ? 0 : 0.5 - BlockShape.upright / 2
                let end = arms.contains(.right) ? 1 : 0.5 + BlockShape.upright / 2
                let line = BlockShape.level
                parts.append(Part(x: start, y: 0.5 - line / 2, width: end - start, height: line))
            }
            if arms.contains(.up) || arms.contains(.down) {
                let start = arms.contains(.up) ? 0 : 0.5
                let end = arms.contains(.down) ? 1 : 0.5
                let line = BlockShape.upright
                parts.append(Part(x: 0.5 - line / 2, y: start, width: line, height: end - start))
            }
        }
    }

    /// Thickness of lines; a cell is about twice as high as wide.
    private static let upright = 0.12
    private static let level = 0.06

    private enum Arm { case left, right, up, down }

    private static let arms: [Unicode.Scalar: Set<Arm>] = [
        "─": [.left, .right], "│": [.up, .down], "┌": [.right, .down], "┐": [.left, .down],
        "└": [.right, .up], "┘": [.left, .up], "├": [.right, .up, .down], "┤": [.left, .up, .down],
    ]
}
