package enum Color: Sendable, Hashable {
    /// The terminal's default.
    case standard
    /// A palette color: 0–7 basic, 8–15 bright, 16–231 a 6 × 6 × 6 cube, 232–255 a ramp of grays (xterm's 256 colors).
    case indexed(UInt8)
    case rgb(UInt8, UInt8, UInt8)
}

package enum ColorDepth: Int, Sendable, Hashable, Comparable, CaseIterable {
    case mono
    case sixteen
    case indexed256
    case trueColor

    package static func < (left: ColorDepth, right: ColorDepth) -> Bool { left.rawValue < right.rawValue }
}

extension Color {
    /// The nearest color at this depth, by the weighted distance of <https://www.compuphase.com/cmetric.htm> ("redmean").
    package func reduced(to depth: ColorDepth) -> Color {
        switch (self, depth) {
        case (.standard, _), (_, .mono): .standard
        case (_, .trueColor): self
        case (.indexed, .indexed256): self
        case (.indexed(let index), .sixteen) where index < 16: self
        case (.indexed(let index), .sixteen): Color.nearest(to: Color.paletteComponents(index), in: 0..<16)
        case (.rgb(let red, let green, let blue), .indexed256):
            // Excludes the 16 basic colors, which users redefine.
            Color.nearest(to: (red, green, blue), in: 16..<256)
        case (.rgb(let red, let green, let blue), .sixteen): Color.nearest(to: (red, green, blue), in: 0..<16)
        }
    }

    /// The components of a palette color: xterm's defaults for 0–15, the formulas of the cube and the ramp for others.
    package static func paletteComponents(_ index: UInt8) -> (red: UInt8, green: UInt8, blue: UInt8) {
        switch index {
        case 0..<16:
            let value = basicPalette[Int(index)]
            return (UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255))
        case 16..<232:
            let cube = index - 16
            return (cubeLevel(cube / 36), cubeLevel(cube / 6 % 6), cubeLevel(cube % 6))
        default:
            let gray = 8 + 10 * (index - 232)
            return (gray, gray, gray)
        }
    }

    /// The color's components; nil for the terminal's default.
    var components: (red: UInt8, green: UInt8, blue: UInt8)? {
        switch self {
        case .standard: nil
        case .indexed(let index): Color.paletteComponents(index)
        case .rgb(let red, let green, let blue): (red, green, blue)
        }
    }

    private static func cubeLevel(_ step: UInt8) -> UInt8 { step == 0 ? 0 : 55 + 40 * step }

    private static let basicPalette: [UInt32] = [
        0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
        0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
    ]

    private static func nearest(to wanted: (UInt8, UInt8, UInt8), in indices: Range<Int>) -> Color {
        var best = indices.lowerBound
        var bestDistance = Int.max
        for index in indices {
            let distance = distance(wanted, paletteComponents(UInt8(index)))
            if distance < bestDistance {
                best = index
                bestDistance = distance
            }
        }
        return .indexed(UInt8(best))
    }

    private static func distance(_ left: (UInt8, UInt8, UInt8), _ right: (UInt8, UInt8, UInt8)) -> Int {
        let meanRed = (Int(left.0) + Int(right.0)) / 2
        let red = Int(left.0) - Int(right.0)
        let green = Int(left.1) - Int(right.1)
        let blue = Int(left.2) - Int(right.2)
        return (512 + meanRed) * red * red + 1024 * green * green + (767 - meanRed) * blue * blue
    }
}
