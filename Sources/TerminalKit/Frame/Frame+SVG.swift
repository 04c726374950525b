/// The colors of text and page as 0xRRGGBB.
private struct PageColors {
    let foreground: UInt32
    let background: UInt32

    init(_ theme: Theme.Name) {
        switch theme {
        case .light, .lightSafe: (foreground, background) = (0x1f2328, 0xffffff)
        case .dark, .darkSafe, .mono: (foreground, background) = (0xe6e9ef, 0x171b24)
        }
    }
}

extension Frame {
    /// The frame as an SVG picture of a terminal's window. Each run of text is stretched to its columns, so that any font fits.
    package func svg(theme: Theme.Name = .dark) -> String {
        let page = PageColors(theme)
        let cell = (width: 8.4, height: 17.0)
        let padding = 16.0
        let width = Double(size.columns) * cell.width + 2 * padding
        let height = Double(size.rows) * cell.height + 2 * padding
        let border = blend(page.foreground, page.background, 0.25)
        var svg = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(number(width))" height="\(number(height))" \
            viewBox="0 0 \(number(width)) \(number(height))">
            <rect x="0.5" y="0.5" width="\(number(width - 1))" height="\(number(height - 1))" rx="9" \
            fill="\(hex(page.background))" stroke="\(border)"/>

            """
        svg += """
            <g transform="translate(\(number(padding)) \(number(padding)))" font-size="14" \
            font-family="ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace" xml:space="preserve">

            """
        var backgrounds = ""
        var texts = ""
        for row in 0..<size.rows {
            for run in runs(in: row) {
                let (ink, paper) = inks(run.style, page)
                let x = Double(run.column) * cell.width
                let y = Double(row) * cell.height
                let runWidth = Double(run.columns) * cell.width
                if paper != page.background {
                    backgrounds += """
                        <rect x="\(number(x))" y="\(number(y))" width="\(number(runWidth))" \
                        height="\(number(cell.height))" fill="\(hex(paper))"/>

                        """
                }
                guard run.text.contains(where: { $0 != " " }) || run.style.attributes.isDrawnOnBlank
                else { continue }
                if let shape = BlockShape(run.text) {
                    let isDim = run.style.attributes.contains(.dim)
                    let opacity = shape.cover * (isDim ? 0.6 : 1)
                    for part in shape.parts {
                        texts += """
                            <rect x="\(number(x + part.x * cell.width))" \
                            y="\(number(y + part.y * cell.height))" \
                            width="\(number(part.width * cell.width))" \
                            height="\(number(part.height * cell.height))" \
                            fill="\(hex(ink))" opacity="\(opacity)" shape-rendering="crispEdges"/>

                            """
                    }
                    continue
                }
                texts += """
                    <text x="\(number(x))" y="\(number(y + 13))" textLength="\(number(runWidth))" \
                    lengthAdjust="spacingAndGlyphs" fill="\(hex(ink))"\(fontAttributes(run.style.attributes))>\
                    \(escaped(run.text))</text>

                    """
            }
        }
        return svg + backgrounds + texts + "</g>\n</svg>\n"
    }

    private struct TextRun {
        var column: Int
        var columns: Int
        var text: String
        var style: Style
    }

    /// The runs of equal style in a row. Each character beyond Latin is a run: a fallback font's width would shift later text.
    private func runs(in row: Int) -> [TextRun] {
        var runs: [TextRun] = []
        var mayGrow = false
        for column in 0..<size.columns {
            let cell = self[column, row]
            if cell.isContinuation { continue }
            let isPlain = cell.text.unicodeScalars.allSatisfy { $0.value < 0x250 }
            if mayGrow, isPlain, let last = runs.last, last.style == cell.style {
                runs[runs.count - 1].text += cell.text
                runs[runs.count - 1].columns += 1
            } else {
                runs.append(
                    TextRun(column: column, columns: Int(cell.width), text: cell.text, style: cell.style))
            }
            mayGrow = isPlain
        }
        return runs
    }

    private func inks(_ style: Style, _ page: PageColors) -> (ink: UInt32, paper: UInt32) {
        let ink = style.foreground.packed ?? page.foreground
        let paper = style.background.packed ?? page.background
        return style.attributes.contains(.reverse) ? (paper, ink) : (ink, paper)
    }

    private func fontAttributes(_ attributes: Attributes) -> String {
        var text = ""
        if attributes.contains(.bold) { text += " font-weight=\"bold\"" }
        if attributes.contains(.italic) { text += " font-style=\"italic\"" }
        if attributes.contains(.dim) { text += " opacity=\"0.6\"" }
        let lines = [(Attributes.underline, "underline"), (.strikethrough, "line-through")]
            .filter { attributes.contains($0.0) }.map(\.1)
        if !lines.isEmpty { text += " text-decoration=\"\(lines.joined(separator: " "))\"" }
        return text
    }
}

extension Attributes {
    fileprivate var isDrawnOnBlank: Bool { !isDisjoint(with: [.underline, .strikethrough]) }
}

extension Color {
    fileprivate var packed: UInt32? {
        components.map { UInt32($0.red) << 16 | UInt32($0.green) << 8 | UInt32($0.blue) }
    }
}

private func hex(_ color: UInt32) -> String { "#" + TerminalText.hexadecimal(color, digits: 6) }

private func blend(_ color: UInt32, _ other: UInt32, _ share: Double) -> String {
    var result: UInt32 = 0
    for shift: UInt32 in [16, 8, 0] {
        let from = Double(other >> shift & 255)
        let to = Double(color >> shift & 255)
        result |= UInt32(from + (to - from) * share) << shift
    }
    return hex(result)
}

private func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
}

private func escaped(_ text: String) -> String {
    var result = ""
    // Reads scalars, because a combining mark must not hide a character of the markup.
    for scalar in text.unicodeScalars {
        switch scalar {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}
