/// The columns of text on a terminal, by UAX #11 (East Asian Width) and UTS #51 (emoji): wide scalars take two, combining ones
/// none, ambiguous ones one. Joined emoji take two each, side by side, because terminals disagree about them; flag tags are
/// letters.
package enum TextWidth {
    package static var unicodeVersion: String { WidthTable.unicodeVersion }

    /// The columns of a scalar: 0, 1 or 2. Controls count 1; frames show an escape instead.
    package static func width(of scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        // Below U+0300, the first combining mark, nothing is wide or combining.
        if value < 0x300 { return 1 }
        var low = 0
        var high = WidthTable.ranges.count
        while low < high {
            let middle = (low + high) / 2
            let range = WidthTable.ranges[middle]
            if value < UInt32(truncatingIfNeeded: range >> 32) {
                high = middle
            } else if value > UInt32(truncatingIfNeeded: range >> 8) & 0xff_ffff {
                low = middle + 1
            } else {
                return Int(range & 3)
            }
        }
        return 1
    }

    /// The columns of a cluster: 0, 1 or 2, and more for syllables of several spacing scalars.
    package static func width(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        var rest = scalars.dropFirst()
        var sum = width(of: first)
        if rest.isEmpty { return sum }
        if isRegionalIndicator(first), let second = rest.first, isRegionalIndicator(second) { return 2 }
        if first.value > 0xff, first.properties.isEmoji { return width(ofEmoji: scalars) }
        if let selector = rest.first, first.properties.isEmoji {
            if selector.value == 0xfe0f { return 2 }
            if selector.value == 0xfe0e {
                sum = 1
                rest = rest.dropFirst()
            }
        }
        for scalar in rest { sum += width(of: scalar) }
        return sum
    }

    private static func width(ofEmoji scalars: Character.UnicodeScalarView) -> Int {
        var (sum, last) = (0, 0)
        for scalar in scalars {
            switch scalar.value {
            case 0x200d: (sum, last) = (sum + last, 0)
            case 0xfe0e: last = 1
            case 0xfe0f: last = 2
            case _ where isSkinTone(scalar) && last > 0: continue
            default: last += letter(ofTag: scalar) == nil ? width(of: scalar) : 1
            }
        }
        return sum + last
    }

    /// A skin tone, which takes no column after another emoji.
    static func isSkinTone(_ scalar: Unicode.Scalar) -> Bool { (0x1f3fb...0x1f3ff).contains(scalar.value) }

    static func isTag(_ scalar: Unicode.Scalar) -> Bool { (0xe0020...0xe007f).contains(scalar.value) }

    /// The letter of a tag scalar in the flag of a region; `nil` for other scalars.
    static func letter(ofTag scalar: Unicode.Scalar) -> Unicode.Scalar? {
        (0xe0030...0xe007a).contains(scalar.value) ? Unicode.Scalar(scalar.value - 0xe0000) : nil
    }

    /// The columns of text as ``Frame/write(_:at:style:within:)`` draws it, with escapes. O(length).
    package static func width(of text: some StringProtocol) -> Int {
        if let ascii = text.utf8.withContiguousStorageIfAvailable(printableASCIICount), ascii >= 0 {
            return ascii
        }
        var sum = 0
        for character in text {
            if TerminalText.isHarmless(character) {
                sum += width(of: character)
            } else {
                for visible in TerminalText.sanitized(character) { sum += width(of: visible) }
            }
        }
        return sum
    }

    /// The part of a text that is left out if the text is too wide.
    package struct Cut: Sendable, Hashable {
        /// Quarters of the columns that show the end of the text; the others show its beginning.
        fileprivate let quarters: Int

        package static let end = Cut(quarters: 0)
        /// Cuts the middle. For names and keys, which may have a common beginning.
        package static let middle = Cut(quarters: 2)
        /// Cuts the beginning. For paths.
        package static let start = Cut(quarters: 4)

        /// ``middle``, or a cut nearer to an end if only that keeps all texts different. Linear in their length.
        package static func middle(of texts: some Sequence<String>, in columns: Int) -> Cut {
            let long = Set(texts.filter { width(of: $0) > columns })
            guard long.count > 1 else { return middle }
            let cuts = [middle, Cut(quarters: 3), Cut(quarters: 1)]
            return cuts.first { cut in
                Set(long.map { truncate($0, to: columns, cutting: cut) }).count == long.count
            } ?? middle
        }
    }

    /// Cuts the text to at most `columns`, with the ellipsis in place of the cut if it fits. The result is harmless.
    /// - Parameter match: characters that stay visible: if the cut would hide them, both ends are cut.
    package static func truncate(
        _ text: String, to columns: Int, cutting cut: Cut = .end, keeping match: Range<Int>? = nil,
        ellipsis: String = "…"
    ) -> String {
        let safe = TerminalText.sanitized(text)
        guard width(of: safe) > columns else { return safe }
        let available = columns - width(of: ellipsis)
        guard available >= 0 else { return String(prefix(of: safe, columns: columns)) }
        let tail = suffix(of: safe, columns: available * cut.quarters / 4)
        let head = prefix(of: safe, columns: available - width(of: tail))
        guard let match, available > width(of: ellipsis), match.upperBound > head.count,
            match.lowerBound < safe.count - tail.count
        else { return head + ellipsis + tail }
        let (start, end) = (prefix(of: safe, columns: available), suffix(of: safe, columns: available))
        if match.upperBound <= start.count { return start + ellipsis }
        if match.lowerBound >= safe.count - end.count { return ellipsis + end }
        // Shows as many columns before the match as after it.
        let rest = safe.dropFirst(match.lowerBound)
        let inner = available - width(of: ellipsis)
        let space = max(0, (inner - width(of: rest.prefix(match.count))) / 2)
        let before = suffix(of: String(safe.prefix(match.lowerBound)), columns: space)
        return ellipsis + prefix(of: String(before) + rest, columns: inner) + ellipsis
    }

    /// The text without its first `columns`; the second half of a wide character becomes a space. The result is harmless.
    package static func suffix(of text: String, from columns: Int) -> String {
        let safe = TerminalText.sanitized(text)
        var (start, used) = (safe.startIndex, 0)
        while start < safe.endIndex, used < columns {
            used += width(of: safe[start])
            start = safe.index(after: start)
        }
        return String(repeating: " ", count: max(0, used - columns)) + safe[start...]
    }

    /// Truncates or fills with spaces to exactly `columns`.
    package static func pad(
        _ text: String, to columns: Int, alignment: Alignment = .leading, cutting cut: Cut = .end,
        keeping match: Range<Int>? = nil, ellipsis: String = "…"
    ) -> String {
        let text = truncate(text, to: columns, cutting: cut, keeping: match, ellipsis: ellipsis)
        let space = max(0, columns - width(of: text))
        let before =
            switch alignment {
            case .leading: 0
            case .center: space / 2
            case .trailing: space
            }
        return String(repeating: " ", count: before) + text
            + String(repeating: " ", count: space - before)
    }

    /// The longest prefix of harmless text within `columns`.
    static func prefix(of text: String, columns: Int) -> Substring {
        var used = 0
        var end = text.startIndex
        while end < text.endIndex {
            used += width(of: text[end])
            if used > columns { break }
            end = text.index(after: end)
        }
        return text[..<end]
    }

    /// The longest suffix of harmless text within `columns`.
    private static func suffix(of text: String, columns: Int) -> Substring {
        var used = 0
        var start = text.endIndex
        while start > text.startIndex {
            let previous = text.index(before: start)
            used += width(of: text[previous])
            if used > columns { break }
            start = previous
        }
        return text[start...]
    }

    static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1f1e6...0x1f1ff).contains(scalar.value)
    }

    /// The number of bytes if all are printable ASCII, otherwise -1.
    private static func printableASCIICount(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7f } ? bytes.count : -1
    }
}

package enum Alignment: Sendable, Hashable {
    case leading, center, trailing
}
