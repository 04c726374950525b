/// Shows 24-bit colors on terminals whose terminfo entry has 256 colors: curses writes numbers, which ``translated(_:)``
/// replaces.
package struct DirectPalette {
    /// Numbers from 16 are sent as `38;5;N` and `48;5;N`, lower ones in shorter forms.
    private static let first = 16
    private var numbers: [UInt32: Int32] = [:]
    private var colors: [UInt32] = []

    package init() {}

    /// The number of a color 0xRRGGBB; the nearest color's if all are used.
    package mutating func number(of color: UInt32) -> Int32 {
        if let known = numbers[color] { return known }
        var number = Int32(DirectPalette.first + colors.count)
        if number < 256 {
            colors.append(color)
        } else {
            let place = colors.indices.min { distance(colors[$0], color) < distance(colors[$1], color) }
            number = Int32(DirectPalette.first + (place ?? 0))
        }
        numbers[color] = number
        return number
    }

    /// Replaces color numbers by colors in the SGR sequences (`ESC [ … m`) of curses' output; copies other bytes unchanged.
    package func translated(_ bytes: some RandomAccessCollection<UInt8>) -> [UInt8] {
        guard !colors.isEmpty else { return Array(bytes) }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + bytes.count / 4)
        var rest = bytes[...]
        while let escape = rest.firstIndex(of: 0x1b) {
            result += rest[..<escape]
            rest = rest[escape...]
            guard rest.dropFirst().first == UInt8(ascii: "["),
                let end = rest.dropFirst(2).firstIndex(where: { 0x40...0x7e ~= $0 })
            else {
                result.append(0x1b)
                rest = rest.dropFirst()
                continue
            }
            let sequence = rest[...end]
            rest = rest[rest.index(after: end)...]
            result += sequence.last == UInt8(ascii: "m") ? attributes(sequence) : Array(sequence)
        }
        return result + rest
    }

    private func attributes(_ sequence: some BidirectionalCollection<UInt8>) -> [UInt8] {
        var parameters = String(decoding: sequence.dropFirst(2).dropLast(), as: UTF8.self)
            .split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        var place = 0
        while place + 2 < parameters.count {
            if ["38", "48"].contains(parameters[place]), parameters[place + 1] == "5",
                let number = Int(parameters[place + 2]), colors.indices.contains(number - DirectPalette.first)
            {
                let color = colors[number - DirectPalette.first]
                parameters[place + 1] = "2"
                parameters[place + 2] = "\(color >> 16 & 255);\(color >> 8 & 255);\(color & 255)"
            }
            place += 1
        }
        return Array("\u{1b}[\(parameters.joined(separator: ";"))m".utf8)
    }

    private func distance(_ left: UInt32, _ right: UInt32) -> Int {
        [16, 8, 0].map { (shift: UInt32) in
            let difference = Int(left >> shift & 255) - Int(right >> shift & 255)
            return difference * difference
        }.reduce(0, +)
    }
}
